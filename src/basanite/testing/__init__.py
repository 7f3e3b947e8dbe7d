"""What tests of a season and plug-in authors need: a clock that is set, a small season, and a real PostgreSQL.

Nothing here is a mock: the small office has a real database and real files, and its packs are scored for real.
"""

from basanite.testing.clock import SetClock
from basanite.testing.packs import SmallPack, small_pack
from basanite.testing.season import Season, season, small_campaign_text, small_office

__all__ = ["Season", "SetClock", "SmallPack", "season", "small_campaign_text", "small_office", "small_pack"]
