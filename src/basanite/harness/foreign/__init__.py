"""Teams' systems as programs in any language, driven by files and a small set of commands (H-12)."""
