"""Questions about pictures and texts, and answers to them, in the files of VQA, SQuAD and in tables."""
