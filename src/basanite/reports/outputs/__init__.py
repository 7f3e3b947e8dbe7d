"""How a report is shown: HTML, slides, tables for programs, LaTeX and text for a terminal."""
