"""Trees of files in the form of /sys and /proc, which describe other machines."""


class FakeSys:
    """A folder in the form of /sys."""

    def __init__(self, folder) -> None:
        self.folder = folder

    def write(self, path, text) -> None:
        """Write a file with one line."""
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{text}\n")

    def node(self, number, cpus, megabytes, distances) -> None:
        """Add a NUMA node with its CPUs and memory."""
        base = f"devices/system/node/node{number}"
        self.write(f"{base}/cpulist", cpus)
        self.write(f"{base}/distance", distances)
        sizes = {
            "MemTotal": megabytes,
            "MemFree": megabytes / 2,
            "Active(file)": 8,
            "Inactive(file)": 16,
        }
        lines = []
        for name, size in sizes.items():
            lines.append(f"Node {number} {name}:   {int(1024 * size)} kB")
        self.write(f"{base}/meminfo", "\n".join(lines))

    def siblings(self, *cpus) -> None:
        """Declare that these CPUs are one core."""
        text = ",".join(str(cpu) for cpu in cpus)
        for cpu in cpus:
            self.write(f"devices/system/cpu/cpu{cpu}/topology/thread_siblings_list", text)
