"""What tests of campaigns and authors of plug-ins need: a clock that is set, and a small campaign in a real office.

Nothing here is a mock: the small office has a real database and real files, and its packs are scored for real.
"""

from basanite.testing.season import Season, SetClock, SmallPack, season, small_campaign_text, small_office, small_pack

__all__ = ["Season", "SetClock", "SmallPack", "season", "small_campaign_text", "small_office", "small_pack"]
