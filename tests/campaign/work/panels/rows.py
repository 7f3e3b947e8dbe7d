"""One row in each table of panels; what they say does not matter."""

from basanite.campaign.store.tables import (
    Assignment,
    CrowdBatch,
    Judgement,
    Panel,
    PanelConsent,
    PanelDecision,
    PanelHidden,
    PanelImage,
    PanelItem,
    PanelScheme,
    RoundEnd,
    Seat,
)


def panel_rows(session, campaign_id, now):
    """Add a panel on which everything happened once."""
    panel = Panel(campaign_id=campaign_id, name="p", scheme="", scheme_digest="", seed="0", warnings=[], made=now)
    panel.made_by = "system"
    session.add(panel)
    session.flush()
    where = {"panel_id": panel.id}
    item = PanelItem(**where, number=1, blocks=[], facts={}, also=[], digest="d", added=now, added_by="system")
    session.add(item)
    session.flush()
    place = Assignment(**where, item_id=item.id, person_id="x", round=1, position=1, made=now)
    session.add(place)
    session.flush()
    said = {"item_id": item.id, "person_id": "x", "assignment_id": place.id, "key": "k", "seconds": 1.0}
    session.add_all(
        [
            PanelScheme(**where, version=1, text="", digest="", by="system", at=now),
            PanelImage(**where, source="s", digest="0" * 64, media="image/png", width=1, height=1, added=now),
            Seat(**where, person_id="x", joined=now, by="system"),
            PanelConsent(**where, person_id="x", version="1", digest="", at=now),
            Judgement(**where, **said, number=1, answers={}, flags=[], scheme_version=1, at=now),
            RoundEnd(**where, person_id="x", round=1, kind="ranking", content=[], key="k", at=now),
            PanelDecision(**where, item_id=item.id, number=1, kind="none", answers={}, reason="r", by="x", at=now),
            PanelHidden(**where, item_id=item.id, block=0, reason="r", by="x", at=now),
            CrowdBatch(**where, number=1, hits=[], known={}, assignments=1, raws=[], made=now, made_by="system"),
        ]
    )
    session.flush()
