"""What end-to-end submissions add: metadata, images, instructions, and what judges said of them."""
