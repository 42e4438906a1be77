"""The report: one HTML file with everything in it, that opens from disk and asks nobody."""

from sightline.report.write import write_report

__all__ = ["write_report"]
