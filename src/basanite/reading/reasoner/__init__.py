"""The reasoner: what follows from statements under rules, whether they are consistent, and why.

Everything that is derived keeps the firing that derived it; a question that would cost more than the limits allow is
answered `undecided`, never with a part of the answer (X-13).
"""
