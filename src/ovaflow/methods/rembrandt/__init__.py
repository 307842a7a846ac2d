"""Rembrandt: labels are embedded in few dimensions, predicted there, and decoded.

By Mineiro and Karampatziakis (2015).
"""
