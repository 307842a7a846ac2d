"""Trees of files in the form of /sys and /proc, for machines that are not here."""


class FakeSys:
    def __init__(self, folder) -> None:
        self.folder = folder

    def write(self, path, text) -> None:
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{text}\n")

    def node(self, number, cpus, megabytes, distances) -> None:
        base = f"devices/system/node/node{number}"
        self.write(f"{base}/cpulist", cpus)
        self.write(f"{base}/distance", distances)
        lines = (
            ("MemTotal", megabytes),
            ("MemFree", megabytes / 2),
            ("Active(file)", 8),
            ("Inactive(file)", 16),
        )
        figures = "\n".join(
            f"Node {number} {name}:   {int(1024 * size)} kB" for name, size in lines
        )
        self.write(f"{base}/meminfo", figures)

    def siblings(self, *cpus) -> None:
        """Say that these CPUs are one core."""
        for cpu in cpus:
            text = ",".join(map(str, cpus))
            self.write(f"devices/system/cpu/cpu{cpu}/topology/thread_siblings_list", text)
