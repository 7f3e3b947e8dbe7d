"""A season to look at: made by the functions that organisers and teams call, scored for real, served on this machine.

Nothing that is computed is shipped. The clock is set into the past and moved through the season, scene by scene.
"""
