"""The video task: clips from encoded files, contrast normalisation, HOG3D words by window, and a set that is drawn."""
