"""What organisers look at before they act: plain values, asked for by the pages of the evaluation team."""
