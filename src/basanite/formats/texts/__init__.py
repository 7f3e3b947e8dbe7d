"""Texts: transcripts, captions, trees, log-probabilities, normalizers, the files of WMT, sacreBLEU and trec_eval."""
