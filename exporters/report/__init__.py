"""Reports for a browser: one self-contained HTML file each, inert whatever stands in a log."""
