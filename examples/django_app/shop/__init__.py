"""A shop: an order and the job that sends its receipt are stored together, or neither is."""
