"""What all pages stand on: templates, the frame around a page, forms, times, charts, paging, notices and errors."""
