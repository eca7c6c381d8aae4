"""Reports for a browser: one self-contained HTML file each, inert whatever a log contains."""
