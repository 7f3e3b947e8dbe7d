"""The export of a campaign as an answer: made now, and removed from the server once it was sent."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from fastapi.responses import FileResponse
from starlette.background import BackgroundTask

from basanite.campaign.archive.campaign_export import export_campaign
from basanite.campaign.office import Office
from basanite.campaign.store.tables import CampaignRow


def export_response(office: Office, row: CampaignRow, *, references: bool) -> FileResponse:
    """The archive."""
    place = office.settings.data / "exports"
    place.mkdir(parents=True, exist_ok=True, mode=0o700)
    folder = Path(tempfile.mkdtemp(prefix="export-", dir=place))
    out = folder / f"{row.slug}.tgz"
    try:
        export_campaign(office, row.id, out, references=references)
    except BaseException:  # whatever ends the export, its folder is removed
        shutil.rmtree(folder, ignore_errors=True)
        raise
    gone = BackgroundTask(shutil.rmtree, folder, ignore_errors=True)
    return FileResponse(out, media_type="application/gzip", filename=out.name, background=gone)
