"""Pages: a document of text, tables, plots and pictures → Markdown, one HTML page, SVG."""
