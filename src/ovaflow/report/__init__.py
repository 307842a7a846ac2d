"""The report page: tables and figures."""
