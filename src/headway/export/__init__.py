"""The same run directory for other engines: converted, compared with ours, and used in its place."""
