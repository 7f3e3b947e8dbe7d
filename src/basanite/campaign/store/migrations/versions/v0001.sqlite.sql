CREATE TABLE campaigns (
  id VARCHAR NOT NULL,
  slug VARCHAR NOT NULL,
  made DATETIME NOT NULL,
  clock_offset DOUBLE NOT NULL,
  CONSTRAINT pk_campaigns PRIMARY KEY (id),
  CONSTRAINT uq_campaigns_slug UNIQUE (slug)
)

CREATE TABLE events (
  sequence INTEGER NOT NULL,
  campaign_id VARCHAR,
  at DATETIME NOT NULL,
  actor VARCHAR NOT NULL,
  kind VARCHAR NOT NULL,
  subject VARCHAR NOT NULL,
  data JSON NOT NULL,
  previous VARCHAR NOT NULL,
  digest VARCHAR NOT NULL,
  CONSTRAINT pk_events PRIMARY KEY (sequence)
)

CREATE INDEX ix_events_campaign ON events (campaign_id, sequence)

CREATE INDEX ix_events_kind ON events (campaign_id, kind, subject)

CREATE TABLE failed_sign_ins (
  digest VARCHAR NOT NULL,
  mail_digest VARCHAR NOT NULL,
  failures INTEGER NOT NULL,
  locked_until DATETIME,
  last DATETIME NOT NULL,
  CONSTRAINT pk_failed_sign_ins PRIMARY KEY (digest)
)

CREATE INDEX ix_failed_sign_ins_mail_digest ON failed_sign_ins (mail_digest)

CREATE TABLE links (
  digest VARCHAR NOT NULL,
  purpose VARCHAR NOT NULL,
  person_id VARCHAR,
  data JSON NOT NULL,
  made DATETIME NOT NULL,
  expires DATETIME NOT NULL,
  used DATETIME,
  CONSTRAINT pk_links PRIMARY KEY (digest)
)

CREATE TABLE messages (
  id VARCHAR NOT NULL,
  campaign_id VARCHAR,
  kind VARCHAR NOT NULL,
  template VARCHAR NOT NULL,
  person_id VARCHAR,
  webhook_id VARCHAR,
  data JSON NOT NULL,
  once VARCHAR,
  made DATETIME NOT NULL,
  due DATETIME NOT NULL,
  state VARCHAR NOT NULL,
  tries INTEGER NOT NULL,
  sent DATETIME,
  error VARCHAR NOT NULL,
  CONSTRAINT pk_messages PRIMARY KEY (id),
  CONSTRAINT uq_messages_once UNIQUE (once)
)

CREATE INDEX ix_messages_state ON messages (state, due)

CREATE TABLE people (
  id VARCHAR NOT NULL,
  sealed BLOB,
  mail_digest VARCHAR,
  made DATETIME NOT NULL,
  erased DATETIME,
  CONSTRAINT pk_people PRIMARY KEY (id),
  CONSTRAINT uq_people_mail_digest UNIQUE (mail_digest)
)

CREATE TABLE receipt_keys (
  id VARCHAR NOT NULL,
  public VARCHAR NOT NULL,
  origin VARCHAR NOT NULL,
  start DATETIME NOT NULL,
  ended DATETIME,
  successor VARCHAR,
  handed_over VARCHAR NOT NULL,
  revoked DATETIME,
  revoked_by VARCHAR,
  reason VARCHAR NOT NULL,
  revocation VARCHAR NOT NULL,
  CONSTRAINT pk_receipt_keys PRIMARY KEY (id)
)

CREATE TABLE workers (
  id VARCHAR NOT NULL,
  started DATETIME NOT NULL,
  seen DATETIME NOT NULL,
  stopped DATETIME,
  process INTEGER NOT NULL,
  version VARCHAR NOT NULL,
  CONSTRAINT pk_workers PRIMARY KEY (id)
)

CREATE TABLE acceptances (
  id VARCHAR NOT NULL,
  campaign_id VARCHAR NOT NULL,
  person_id VARCHAR NOT NULL,
  rules VARCHAR NOT NULL,
  version VARCHAR NOT NULL,
  at DATETIME NOT NULL,
  CONSTRAINT pk_acceptances PRIMARY KEY (id),
  CONSTRAINT uq_acceptances_campaign_id_person_id_rules_version UNIQUE (campaign_id, person_id, rules, version),
  CONSTRAINT fk_acceptances_campaign_id_campaigns FOREIGN KEY(campaign_id) REFERENCES campaigns (id),
  CONSTRAINT fk_acceptances_person_id_people FOREIGN KEY(person_id) REFERENCES people (id)
)

CREATE TABLE accounts (
  person_id VARCHAR NOT NULL,
  password VARCHAR,
  failures INTEGER NOT NULL,
  locked_until DATETIME,
  second_factor BLOB,
  second_factor_used INTEGER NOT NULL,
  confirmed DATETIME,
  closed DATETIME,
  zone VARCHAR NOT NULL,
  CONSTRAINT pk_accounts PRIMARY KEY (person_id),
  CONSTRAINT fk_accounts_person_id_people FOREIGN KEY(person_id) REFERENCES people (id)
)

CREATE TABLE addresses_seen (
  person_id VARCHAR NOT NULL,
  digest VARCHAR NOT NULL,
  first DATETIME NOT NULL,
  last DATETIME NOT NULL,
  CONSTRAINT pk_addresses_seen PRIMARY KEY (person_id, digest),
  CONSTRAINT fk_addresses_seen_person_id_people FOREIGN KEY(person_id) REFERENCES people (id)
)

CREATE INDEX ix_addresses_seen_digest ON addresses_seen (digest)

CREATE TABLE annotation_projects (
  id VARCHAR NOT NULL,
  campaign_id VARCHAR NOT NULL,
  name VARCHAR NOT NULL,
  title VARCHAR NOT NULL,
  files JSON NOT NULL,
  digest VARCHAR NOT NULL,
  per_document INTEGER NOT NULL,
  seed BIGINT NOT NULL,
  generation INTEGER NOT NULL,
  state VARCHAR NOT NULL,
  made DATETIME NOT NULL,
  "by" VARCHAR NOT NULL,
  CONSTRAINT pk_annotation_projects PRIMARY KEY (id),
  CONSTRAINT uq_annotation_projects_campaign_id_name UNIQUE (campaign_id, name),
  CONSTRAINT fk_annotation_projects_campaign_id_campaigns FOREIGN KEY(campaign_id) REFERENCES campaigns (id)
)

CREATE TABLE announcements (
  id VARCHAR NOT NULL,
  campaign_id VARCHAR NOT NULL,
  title VARCHAR NOT NULL,
  text VARCHAR NOT NULL,
  audience VARCHAR NOT NULL,
  "by" VARCHAR NOT NULL,
  at DATETIME NOT NULL,
  CONSTRAINT pk_announcements PRIMARY KEY (id),
  CONSTRAINT fk_announcements_campaign_id_campaigns FOREIGN KEY(campaign_id) REFERENCES campaigns (id)
)

CREATE INDEX ix_announcements_campaign_id ON announcements (campaign_id)

CREATE TABLE approvals (
  id VARCHAR NOT NULL,
  campaign_id VARCHAR,
  act VARCHAR NOT NULL,
  data JSON NOT NULL,
  reason VARCHAR NOT NULL,
  asked_by VARCHAR NOT NULL,
  asked DATETIME NOT NULL,
  state VARCHAR NOT NULL,
  decided_by VARCHAR,
  decided DATETIME,
  CONSTRAINT pk_approvals PRIMARY KEY (id),
  CONSTRAINT fk_approvals_campaign_id_campaigns FOREIGN KEY(campaign_id) REFERENCES campaigns (id)
)

CREATE INDEX ix_approvals_campaign_id ON approvals (campaign_id)

CREATE TABLE boards (
  "key" VARCHAR NOT NULL,
  campaign_id VARCHAR NOT NULL,
  window VARCHAR NOT NULL,
  purpose VARCHAR NOT NULL,
  subject JSON NOT NULL,
  digest VARCHAR NOT NULL,
  ranking JSON NOT NULL,
  at DATETIME NOT NULL,
  CONSTRAINT pk_boards PRIMARY KEY ("key"),
  CONSTRAINT fk_boards_campaign_id_campaigns FOREIGN KEY(campaign_id) REFERENCES campaigns (id)
)

CREATE INDEX ix_boards_campaign_id ON boards (campaign_id)

CREATE TABLE deviations (
  id VARCHAR NOT NULL,
  campaign_id VARCHAR NOT NULL,
  window VARCHAR NOT NULL,
  from_version INTEGER NOT NULL,
  to_version INTEGER NOT NULL,
  changes JSON NOT NULL,
  "by" VARCHAR NOT NULL,
  reason VARCHAR NOT NULL,
  results_known BOOLEAN NOT NULL,
  at DATETIME NOT NULL,
  CONSTRAINT pk_deviations PRIMARY KEY (id),
  CONSTRAINT fk_deviations_campaign_id_campaigns FOREIGN KEY(campaign_id) REFERENCES campaigns (id)
)

CREATE INDEX ix_deviations_campaign_id ON deviations (campaign_id)

CREATE TABLE downloads (
  id VARCHAR NOT NULL,
  campaign_id VARCHAR NOT NULL,
  person_id VARCHAR NOT NULL,
  team_id VARCHAR,
  pack VARCHAR NOT NULL,
  digest VARCHAR NOT NULL,
  at DATETIME NOT NULL,
  CONSTRAINT pk_downloads PRIMARY KEY (id),
  CONSTRAINT fk_downloads_campaign_id_campaigns FOREIGN KEY(campaign_id) REFERENCES campaigns (id)
)

CREATE INDEX ix_downloads_campaign_id ON downloads (campaign_id)

CREATE TABLE duty_exceptions (
  id VARCHAR NOT NULL,
  campaign_id VARCHAR NOT NULL,
  person_id VARCHAR NOT NULL,
  reason VARCHAR NOT NULL,
  asked DATETIME NOT NULL,
  asked_by VARCHAR NOT NULL,
  seconded DATETIME,
  seconded_by VARCHAR,
  ended DATETIME,
  ended_by VARCHAR,
  CONSTRAINT pk_duty_exceptions PRIMARY KEY (id),
  CONSTRAINT fk_duty_exceptions_campaign_id_campaigns FOREIGN KEY(campaign_id) REFERENCES campaigns (id),
  CONSTRAINT fk_duty_exceptions_person_id_people FOREIGN KEY(person_id) REFERENCES people (id)
)

CREATE INDEX ix_duty_exceptions_campaign_id ON duty_exceptions (campaign_id)

CREATE INDEX ix_duty_exceptions_person_id ON duty_exceptions (person_id)

CREATE TABLE freezes (
  id VARCHAR NOT NULL,
  campaign_id VARCHAR NOT NULL,
  window VARCHAR NOT NULL,
  plan_version INTEGER NOT NULL,
  digest VARCHAR NOT NULL,
  at DATETIME NOT NULL,
  CONSTRAINT pk_freezes PRIMARY KEY (id),
  CONSTRAINT uq_freezes_campaign_id_window UNIQUE (campaign_id, window),
  CONSTRAINT fk_freezes_campaign_id_campaigns FOREIGN KEY(campaign_id) REFERENCES campaigns (id)
)

CREATE TABLE grants (
  id VARCHAR NOT NULL,
  campaign_id VARCHAR,
  person_id VARCHAR NOT NULL,
  role VARCHAR NOT NULL,
  at DATETIME NOT NULL,
  "by" VARCHAR NOT NULL,
  seconded_by VARCHAR,
  reason VARCHAR NOT NULL,
  ended DATETIME,
  ended_by VARCHAR,
  CONSTRAINT pk_grants PRIMARY KEY (id),
  CONSTRAINT fk_grants_campaign_id_campaigns FOREIGN KEY(campaign_id) REFERENCES campaigns (id),
  CONSTRAINT fk_grants_person_id_people FOREIGN KEY(person_id) REFERENCES people (id)
)

CREATE INDEX ix_grants_person_id ON grants (person_id)

CREATE TABLE identities (
  id VARCHAR NOT NULL,
  issuer VARCHAR NOT NULL,
  subject VARCHAR NOT NULL,
  person_id VARCHAR NOT NULL,
  made DATETIME NOT NULL,
  CONSTRAINT pk_identities PRIMARY KEY (id),
  CONSTRAINT uq_identities_issuer_subject UNIQUE (issuer, subject),
  CONSTRAINT fk_identities_person_id_people FOREIGN KEY(person_id) REFERENCES people (id)
)

CREATE INDEX ix_identities_person_id ON identities (person_id)

CREATE TABLE lead_requests (
  id VARCHAR NOT NULL,
  campaign_id VARCHAR NOT NULL,
  person_id VARCHAR NOT NULL,
  text VARCHAR NOT NULL,
  state VARCHAR NOT NULL,
  asked DATETIME NOT NULL,
  decided DATETIME,
  decided_by VARCHAR,
  reason VARCHAR NOT NULL,
  CONSTRAINT pk_lead_requests PRIMARY KEY (id),
  CONSTRAINT fk_lead_requests_campaign_id_campaigns FOREIGN KEY(campaign_id) REFERENCES campaigns (id),
  CONSTRAINT fk_lead_requests_person_id_people FOREIGN KEY(person_id) REFERENCES people (id)
)

CREATE INDEX ix_lead_requests_campaign_id ON lead_requests (campaign_id)

CREATE INDEX ix_lead_requests_person_id ON lead_requests (person_id)

CREATE TABLE milestone_states (
  id VARCHAR NOT NULL,
  campaign_id VARCHAR NOT NULL,
  milestone VARCHAR NOT NULL,
  state VARCHAR NOT NULL,
  note VARCHAR NOT NULL,
  "by" VARCHAR NOT NULL,
  at DATETIME NOT NULL,
  CONSTRAINT pk_milestone_states PRIMARY KEY (id),
  CONSTRAINT fk_milestone_states_campaign_id_campaigns FOREIGN KEY(campaign_id) REFERENCES campaigns (id)
)

CREATE INDEX ix_milestone_states_campaign_id ON milestone_states (campaign_id)

CREATE TABLE pack_files (
  id VARCHAR NOT NULL,
  campaign_id VARCHAR NOT NULL,
  pack VARCHAR NOT NULL,
  name VARCHAR NOT NULL,
  digest VARCHAR NOT NULL,
  size BIGINT NOT NULL,
  encrypted BOOLEAN NOT NULL,
  plain_digest VARCHAR NOT NULL,
  added DATETIME NOT NULL,
  added_by VARCHAR NOT NULL,
  CONSTRAINT pk_pack_files PRIMARY KEY (id),
  CONSTRAINT uq_pack_files_campaign_id_pack_name UNIQUE (campaign_id, pack, name),
  CONSTRAINT fk_pack_files_campaign_id_campaigns FOREIGN KEY(campaign_id) REFERENCES campaigns (id)
)

CREATE TABLE panels (
  id VARCHAR NOT NULL,
  campaign_id VARCHAR NOT NULL,
  name VARCHAR NOT NULL,
  window VARCHAR NOT NULL,
  scheme VARCHAR NOT NULL,
  scheme_digest VARCHAR NOT NULL,
  scheme_version INTEGER NOT NULL,
  seed VARCHAR NOT NULL,
  state VARCHAR NOT NULL,
  warnings JSON NOT NULL,
  made DATETIME NOT NULL,
  made_by VARCHAR NOT NULL,
  opened DATETIME,
  closed DATETIME,
  CONSTRAINT pk_panels PRIMARY KEY (id),
  CONSTRAINT uq_panels_campaign_id_name UNIQUE (campaign_id, name),
  CONSTRAINT fk_panels_campaign_id_campaigns FOREIGN KEY(campaign_id) REFERENCES campaigns (id)
)

CREATE TABLE plans (
  id VARCHAR NOT NULL,
  campaign_id VARCHAR NOT NULL,
  version INTEGER NOT NULL,
  text VARCHAR NOT NULL,
  digest VARCHAR NOT NULL,
  made DATETIME NOT NULL,
  made_by VARCHAR NOT NULL,
  reason VARCHAR NOT NULL,
  CONSTRAINT pk_plans PRIMARY KEY (id),
  CONSTRAINT uq_plans_campaign_id_version UNIQUE (campaign_id, version),
  CONSTRAINT fk_plans_campaign_id_campaigns FOREIGN KEY(campaign_id) REFERENCES campaigns (id)
)

CREATE TABLE questions (
  id VARCHAR NOT NULL,
  campaign_id VARCHAR NOT NULL,
  text VARCHAR NOT NULL,
  "by" VARCHAR NOT NULL,
  at DATETIME NOT NULL,
  answer VARCHAR NOT NULL,
  answered_by VARCHAR,
  answered DATETIME,
  shown BOOLEAN NOT NULL,
  CONSTRAINT pk_questions PRIMARY KEY (id),
  CONSTRAINT fk_questions_campaign_id_campaigns FOREIGN KEY(campaign_id) REFERENCES campaigns (id)
)

CREATE INDEX ix_questions_campaign_id ON questions (campaign_id)

CREATE TABLE reading_packages (
  id VARCHAR NOT NULL,
  campaign_id VARCHAR NOT NULL,
  name VARCHAR NOT NULL,
  version VARCHAR NOT NULL,
  title VARCHAR NOT NULL,
  window VARCHAR NOT NULL,
  digest VARCHAR NOT NULL,
  open_digest VARCHAR NOT NULL,
  index_digest VARCHAR NOT NULL,
  parts JSON NOT NULL,
  state VARCHAR NOT NULL,
  made DATETIME NOT NULL,
  "by" VARCHAR NOT NULL,
  CONSTRAINT pk_reading_packages PRIMARY KEY (id),
  CONSTRAINT uq_reading_packages_campaign_id_name_version UNIQUE (campaign_id, name, version),
  CONSTRAINT fk_reading_packages_campaign_id_campaigns FOREIGN KEY(campaign_id) REFERENCES campaigns (id)
)

CREATE TABLE reading_searches (
  id VARCHAR NOT NULL,
  campaign_id VARCHAR NOT NULL,
  package VARCHAR NOT NULL,
  person_id VARCHAR NOT NULL,
  text VARCHAR NOT NULL,
  hits INTEGER NOT NULL,
  at DATETIME NOT NULL,
  CONSTRAINT pk_reading_searches PRIMARY KEY (id),
  CONSTRAINT fk_reading_searches_campaign_id_campaigns FOREIGN KEY(campaign_id) REFERENCES campaigns (id)
)

CREATE INDEX ix_reading_searches_campaign_id ON reading_searches (campaign_id)

CREATE TABLE "references" (
  id VARCHAR NOT NULL,
  campaign_id VARCHAR NOT NULL,
  task VARCHAR NOT NULL,
  language VARCHAR NOT NULL,
  queryset VARCHAR NOT NULL,
  dataset VARCHAR NOT NULL,
  version INTEGER NOT NULL,
  files JSON NOT NULL,
  commitment VARCHAR NOT NULL,
  sealed BOOLEAN NOT NULL,
  state VARCHAR NOT NULL,
  made DATETIME NOT NULL,
  "by" VARCHAR NOT NULL,
  seconded_by VARCHAR,
  reason VARCHAR NOT NULL,
  released DATETIME,
  CONSTRAINT pk_references PRIMARY KEY (id),
  CONSTRAINT uq_references_campaign_id_task_language_queryset_dataset_version UNIQUE (campaign_id, task, language, queryset, dataset, version),
  CONSTRAINT fk_references_campaign_id_campaigns FOREIGN KEY(campaign_id) REFERENCES campaigns (id)
)

CREATE TABLE releases (
  id VARCHAR NOT NULL,
  campaign_id VARCHAR NOT NULL,
  window VARCHAR NOT NULL,
  level VARCHAR NOT NULL,
  "by" VARCHAR NOT NULL,
  seconded_by VARCHAR,
  reason VARCHAR NOT NULL,
  open_appeals JSON NOT NULL,
  at DATETIME NOT NULL,
  CONSTRAINT pk_releases PRIMARY KEY (id),
  CONSTRAINT uq_releases_campaign_id_window_level UNIQUE (campaign_id, window, level),
  CONSTRAINT fk_releases_campaign_id_campaigns FOREIGN KEY(campaign_id) REFERENCES campaigns (id)
)

CREATE TABLE sessions (
  digest VARCHAR NOT NULL,
  person_id VARCHAR NOT NULL,
  csrf VARCHAR NOT NULL,
  made DATETIME NOT NULL,
  seen DATETIME NOT NULL,
  expires DATETIME NOT NULL,
  revoked DATETIME,
  strong BOOLEAN NOT NULL,
  agent VARCHAR NOT NULL,
  standing VARCHAR NOT NULL,
  CONSTRAINT pk_sessions PRIMARY KEY (digest),
  CONSTRAINT fk_sessions_person_id_people FOREIGN KEY(person_id) REFERENCES people (id)
)

CREATE INDEX ix_sessions_person_id ON sessions (person_id)

CREATE TABLE teams (
  id VARCHAR NOT NULL,
  campaign_id VARCHAR NOT NULL,
  name VARCHAR NOT NULL,
  skeleton VARCHAR NOT NULL,
  code VARCHAR NOT NULL,
  pseudonym VARCHAR NOT NULL,
  track VARCHAR NOT NULL,
  state VARCHAR NOT NULL,
  successor VARCHAR,
  named_consent DATETIME,
  named_by VARCHAR,
  made DATETIME NOT NULL,
  made_by VARCHAR NOT NULL,
  CONSTRAINT pk_teams PRIMARY KEY (id),
  CONSTRAINT uq_teams_campaign_id_skeleton UNIQUE (campaign_id, skeleton),
  CONSTRAINT uq_teams_campaign_id_pseudonym UNIQUE (campaign_id, pseudonym),
  CONSTRAINT uq_teams_campaign_id_code UNIQUE (campaign_id, code),
  CONSTRAINT fk_teams_campaign_id_campaigns FOREIGN KEY(campaign_id) REFERENCES campaigns (id)
)

CREATE TABLE tokens (
  id VARCHAR NOT NULL,
  digest VARCHAR NOT NULL,
  person_id VARCHAR NOT NULL,
  label VARCHAR NOT NULL,
  scopes JSON NOT NULL,
  made DATETIME NOT NULL,
  expires DATETIME,
  used DATETIME,
  revoked DATETIME,
  CONSTRAINT pk_tokens PRIMARY KEY (id),
  CONSTRAINT uq_tokens_digest UNIQUE (digest),
  CONSTRAINT fk_tokens_person_id_people FOREIGN KEY(person_id) REFERENCES people (id)
)

CREATE INDEX ix_tokens_person_id ON tokens (person_id)

CREATE TABLE webhooks (
  id VARCHAR NOT NULL,
  campaign_id VARCHAR NOT NULL,
  url VARCHAR NOT NULL,
  kinds JSON NOT NULL,
  made DATETIME NOT NULL,
  made_by VARCHAR NOT NULL,
  ended DATETIME,
  CONSTRAINT pk_webhooks PRIMARY KEY (id),
  CONSTRAINT fk_webhooks_campaign_id_campaigns FOREIGN KEY(campaign_id) REFERENCES campaigns (id)
)

CREATE INDEX ix_webhooks_campaign_id ON webhooks (campaign_id)

CREATE TABLE annotation_configs (
  id VARCHAR NOT NULL,
  campaign_id VARCHAR NOT NULL,
  annotation_project_id VARCHAR NOT NULL,
  generation INTEGER NOT NULL,
  version INTEGER NOT NULL,
  text VARCHAR NOT NULL,
  digest VARCHAR NOT NULL,
  diff JSON NOT NULL,
  reason VARCHAR NOT NULL,
  made DATETIME NOT NULL,
  "by" VARCHAR NOT NULL,
  CONSTRAINT pk_annotation_configs PRIMARY KEY (id),
  CONSTRAINT uq_annotation_configs_annotation_project_id_generation UNIQUE (annotation_project_id, generation),
  CONSTRAINT fk_annotation_configs_campaign_id_campaigns FOREIGN KEY(campaign_id) REFERENCES campaigns (id),
  CONSTRAINT fk_annotation_configs_annotation_project_id_annotation_projects FOREIGN KEY(annotation_project_id) REFERENCES annotation_projects (id)
)

CREATE INDEX ix_annotation_configs_campaign_id ON annotation_configs (campaign_id)

CREATE TABLE annotation_documents (
  id VARCHAR NOT NULL,
  campaign_id VARCHAR NOT NULL,
  annotation_project_id VARCHAR NOT NULL,
  name VARCHAR NOT NULL,
  part VARCHAR NOT NULL,
  store VARCHAR NOT NULL,
  digest VARCHAR NOT NULL,
  length INTEGER NOT NULL,
  CONSTRAINT pk_annotation_documents PRIMARY KEY (id),
  CONSTRAINT uq_annotation_documents_annotation_project_id_name UNIQUE (annotation_project_id, name),
  CONSTRAINT fk_annotation_documents_campaign_id_campaigns FOREIGN KEY(campaign_id) REFERENCES campaigns (id),
  CONSTRAINT fk_annotation_documents_annotation_project_id_annotation_projects FOREIGN KEY(annotation_project_id) REFERENCES annotation_projects (id)
)

CREATE INDEX ix_annotation_documents_campaign_id ON annotation_documents (campaign_id)

CREATE TABLE appeals (
  id VARCHAR NOT NULL,
  campaign_id VARCHAR NOT NULL,
  number INTEGER NOT NULL,
  window VARCHAR NOT NULL,
  team_id VARCHAR NOT NULL,
  submission_id VARCHAR,
  text VARCHAR NOT NULL,
  "by" VARCHAR NOT NULL,
  at DATETIME NOT NULL,
  deadline DATETIME NOT NULL,
  state VARCHAR NOT NULL,
  decision VARCHAR NOT NULL,
  decided DATETIME,
  decided_by VARCHAR,
  CONSTRAINT pk_appeals PRIMARY KEY (id),
  CONSTRAINT uq_appeals_campaign_id_number UNIQUE (campaign_id, number),
  CONSTRAINT fk_appeals_campaign_id_campaigns FOREIGN KEY(campaign_id) REFERENCES campaigns (id),
  CONSTRAINT fk_appeals_team_id_teams FOREIGN KEY(team_id) REFERENCES teams (id)
)

CREATE TABLE batches (
  id VARCHAR NOT NULL,
  campaign_id VARCHAR NOT NULL,
  reference_id VARCHAR,
  reason VARCHAR NOT NULL,
  state VARCHAR NOT NULL,
  appeal_id VARCHAR,
  "by" VARCHAR NOT NULL,
  seconded_by VARCHAR,
  made DATETIME NOT NULL,
  ended DATETIME,
  CONSTRAINT pk_batches PRIMARY KEY (id),
  CONSTRAINT fk_batches_campaign_id_campaigns FOREIGN KEY(campaign_id) REFERENCES campaigns (id),
  CONSTRAINT fk_batches_reference_id_references FOREIGN KEY(reference_id) REFERENCES "references" (id)
)

CREATE INDEX ix_batches_campaign_id ON batches (campaign_id)

CREATE TABLE certifications (
  id VARCHAR NOT NULL,
  campaign_id VARCHAR NOT NULL,
  window VARCHAR NOT NULL,
  team_id VARCHAR NOT NULL,
  "by" VARCHAR NOT NULL,
  at DATETIME NOT NULL,
  CONSTRAINT pk_certifications PRIMARY KEY (id),
  CONSTRAINT uq_certifications_campaign_id_window_team_id UNIQUE (campaign_id, window, team_id),
  CONSTRAINT fk_certifications_campaign_id_campaigns FOREIGN KEY(campaign_id) REFERENCES campaigns (id),
  CONSTRAINT fk_certifications_team_id_teams FOREIGN KEY(team_id) REFERENCES teams (id)
)

CREATE TABLE charges (
  id VARCHAR NOT NULL,
  team_id VARCHAR NOT NULL,
  "key" VARCHAR NOT NULL,
  period VARCHAR NOT NULL,
  type VARCHAR NOT NULL,
  task VARCHAR NOT NULL,
  upload_id VARCHAR,
  submission_id VARCHAR,
  state VARCHAR NOT NULL,
  reason VARCHAR NOT NULL,
  at DATETIME NOT NULL,
  CONSTRAINT pk_charges PRIMARY KEY (id),
  CONSTRAINT fk_charges_team_id_teams FOREIGN KEY(team_id) REFERENCES teams (id)
)

CREATE INDEX ix_charges_key ON charges (team_id, "key", period)

CREATE INDEX ix_charges_state ON charges (team_id, state, at)

CREATE INDEX ix_charges_submission_id ON charges (submission_id)

CREATE INDEX ix_charges_upload_id ON charges (upload_id)

CREATE TABLE crowd_batches (
  id VARCHAR NOT NULL,
  panel_id VARCHAR NOT NULL,
  number INTEGER NOT NULL,
  hits JSON NOT NULL,
  known JSON NOT NULL,
  assignments INTEGER NOT NULL,
  made DATETIME NOT NULL,
  made_by VARCHAR NOT NULL,
  state VARCHAR NOT NULL,
  raws JSON NOT NULL,
  imported DATETIME,
  imported_by VARCHAR,
  CONSTRAINT pk_crowd_batches PRIMARY KEY (id),
  CONSTRAINT fk_crowd_batches_panel_id_panels FOREIGN KEY(panel_id) REFERENCES panels (id)
)

CREATE INDEX ix_crowd_batches_panel_id ON crowd_batches (panel_id)

CREATE TABLE dropped (
  id VARCHAR NOT NULL,
  team_id VARCHAR NOT NULL,
  name VARCHAR NOT NULL,
  identity VARCHAR NOT NULL,
  seen DATETIME NOT NULL,
  state VARCHAR NOT NULL,
  submission_id VARCHAR,
  CONSTRAINT pk_dropped PRIMARY KEY (id),
  CONSTRAINT uq_dropped_team_id_name_identity UNIQUE (team_id, name, identity),
  CONSTRAINT fk_dropped_team_id_teams FOREIGN KEY(team_id) REFERENCES teams (id)
)

CREATE TABLE extras (
  id VARCHAR NOT NULL,
  team_id VARCHAR NOT NULL,
  "key" VARCHAR NOT NULL,
  period VARCHAR NOT NULL,
  count INTEGER NOT NULL,
  reason VARCHAR NOT NULL,
  "by" VARCHAR NOT NULL,
  at DATETIME NOT NULL,
  CONSTRAINT pk_extras PRIMARY KEY (id),
  CONSTRAINT fk_extras_team_id_teams FOREIGN KEY(team_id) REFERENCES teams (id)
)

CREATE INDEX ix_extras_team_id ON extras (team_id)

CREATE TABLE looks (
  campaign_id VARCHAR NOT NULL,
  window VARCHAR NOT NULL,
  task VARCHAR NOT NULL,
  language VARCHAR NOT NULL,
  team_id VARCHAR NOT NULL,
  count INTEGER NOT NULL,
  CONSTRAINT pk_looks PRIMARY KEY (campaign_id, window, task, language, team_id),
  CONSTRAINT fk_looks_campaign_id_campaigns FOREIGN KEY(campaign_id) REFERENCES campaigns (id),
  CONSTRAINT fk_looks_team_id_teams FOREIGN KEY(team_id) REFERENCES teams (id)
)

CREATE TABLE memberships (
  id VARCHAR NOT NULL,
  team_id VARCHAR NOT NULL,
  person_id VARCHAR NOT NULL,
  role VARCHAR NOT NULL,
  site VARCHAR NOT NULL,
  state VARCHAR NOT NULL,
  asked DATETIME NOT NULL,
  decided DATETIME,
  decided_by VARCHAR,
  ended DATETIME,
  CONSTRAINT pk_memberships PRIMARY KEY (id),
  CONSTRAINT fk_memberships_team_id_teams FOREIGN KEY(team_id) REFERENCES teams (id),
  CONSTRAINT fk_memberships_person_id_people FOREIGN KEY(person_id) REFERENCES people (id)
)

CREATE INDEX ix_memberships_person_id ON memberships (person_id)

CREATE INDEX ix_memberships_team_id ON memberships (team_id)

CREATE TABLE panel_consents (
  id VARCHAR NOT NULL,
  panel_id VARCHAR NOT NULL,
  person_id VARCHAR NOT NULL,
  version VARCHAR NOT NULL,
  digest VARCHAR NOT NULL,
  kind VARCHAR NOT NULL,
  at DATETIME NOT NULL,
  CONSTRAINT pk_panel_consents PRIMARY KEY (id),
  CONSTRAINT fk_panel_consents_panel_id_panels FOREIGN KEY(panel_id) REFERENCES panels (id)
)

CREATE INDEX ix_panel_consents_panel_id ON panel_consents (panel_id)

CREATE TABLE panel_images (
  id VARCHAR NOT NULL,
  panel_id VARCHAR NOT NULL,
  source VARCHAR NOT NULL,
  digest VARCHAR NOT NULL,
  media VARCHAR NOT NULL,
  width INTEGER NOT NULL,
  height INTEGER NOT NULL,
  added DATETIME NOT NULL,
  CONSTRAINT pk_panel_images PRIMARY KEY (id),
  CONSTRAINT uq_panel_images_panel_id_source UNIQUE (panel_id, source),
  CONSTRAINT fk_panel_images_panel_id_panels FOREIGN KEY(panel_id) REFERENCES panels (id)
)

CREATE TABLE panel_items (
  id VARCHAR NOT NULL,
  panel_id VARCHAR NOT NULL,
  number INTEGER NOT NULL,
  role VARCHAR NOT NULL,
  blocks JSON NOT NULL,
  facts JSON NOT NULL,
  also JSON NOT NULL,
  digest VARCHAR NOT NULL,
  expected JSON,
  added DATETIME NOT NULL,
  added_by VARCHAR NOT NULL,
  CONSTRAINT pk_panel_items PRIMARY KEY (id),
  CONSTRAINT uq_panel_items_panel_id_digest UNIQUE (panel_id, digest),
  CONSTRAINT uq_panel_items_panel_id_number UNIQUE (panel_id, number),
  CONSTRAINT fk_panel_items_panel_id_panels FOREIGN KEY(panel_id) REFERENCES panels (id)
)

CREATE TABLE panel_round_ends (
  id VARCHAR NOT NULL,
  panel_id VARCHAR NOT NULL,
  person_id VARCHAR NOT NULL,
  round INTEGER NOT NULL,
  kind VARCHAR NOT NULL,
  content JSON NOT NULL,
  "key" VARCHAR NOT NULL,
  seconds DOUBLE NOT NULL,
  at DATETIME NOT NULL,
  CONSTRAINT pk_panel_round_ends PRIMARY KEY (id),
  CONSTRAINT uq_panel_round_ends_panel_id_person_id_round_kind UNIQUE (panel_id, person_id, round, kind),
  CONSTRAINT uq_panel_round_ends_panel_id_person_id_key UNIQUE (panel_id, person_id, "key"),
  CONSTRAINT fk_panel_round_ends_panel_id_panels FOREIGN KEY(panel_id) REFERENCES panels (id)
)

CREATE TABLE panel_schemes (
  id VARCHAR NOT NULL,
  panel_id VARCHAR NOT NULL,
  version INTEGER NOT NULL,
  text VARCHAR NOT NULL,
  digest VARCHAR NOT NULL,
  "by" VARCHAR NOT NULL,
  at DATETIME NOT NULL,
  reason VARCHAR NOT NULL,
  deviates BOOLEAN NOT NULL,
  results_known BOOLEAN NOT NULL,
  CONSTRAINT pk_panel_schemes PRIMARY KEY (id),
  CONSTRAINT uq_panel_schemes_panel_id_version UNIQUE (panel_id, version),
  CONSTRAINT fk_panel_schemes_panel_id_panels FOREIGN KEY(panel_id) REFERENCES panels (id)
)

CREATE TABLE panel_seats (
  id VARCHAR NOT NULL,
  panel_id VARCHAR NOT NULL,
  person_id VARCHAR NOT NULL,
  "group" VARCHAR NOT NULL,
  state VARCHAR NOT NULL,
  joined DATETIME NOT NULL,
  "by" VARCHAR NOT NULL,
  consent_version VARCHAR NOT NULL,
  consented DATETIME,
  declared BLOB,
  rested INTEGER NOT NULL,
  feedback VARCHAR,
  settled BLOB,
  ended DATETIME,
  CONSTRAINT pk_panel_seats PRIMARY KEY (id),
  CONSTRAINT uq_panel_seats_panel_id_person_id UNIQUE (panel_id, person_id),
  CONSTRAINT fk_panel_seats_panel_id_panels FOREIGN KEY(panel_id) REFERENCES panels (id)
)

CREATE INDEX ix_panel_seats_person ON panel_seats (person_id)

CREATE TABLE read_marks (
  announcement_id VARCHAR NOT NULL,
  person_id VARCHAR NOT NULL,
  at DATETIME NOT NULL,
  CONSTRAINT pk_read_marks PRIMARY KEY (announcement_id, person_id),
  CONSTRAINT fk_read_marks_announcement_id_announcements FOREIGN KEY(announcement_id) REFERENCES announcements (id)
)

CREATE TABLE reading_golds (
  id VARCHAR NOT NULL,
  campaign_id VARCHAR NOT NULL,
  reading_package_id VARCHAR NOT NULL,
  number INTEGER NOT NULL,
  digest VARCHAR NOT NULL,
  human VARCHAR NOT NULL,
  added INTEGER NOT NULL,
  state VARCHAR NOT NULL,
  reason VARCHAR NOT NULL,
  made DATETIME NOT NULL,
  "by" VARCHAR NOT NULL,
  ended DATETIME,
  decided_by VARCHAR,
  CONSTRAINT pk_reading_golds PRIMARY KEY (id),
  CONSTRAINT uq_reading_golds_reading_package_id_number UNIQUE (reading_package_id, number),
  CONSTRAINT fk_reading_golds_campaign_id_campaigns FOREIGN KEY(campaign_id) REFERENCES campaigns (id),
  CONSTRAINT fk_reading_golds_reading_package_id_reading_packages FOREIGN KEY(reading_package_id) REFERENCES reading_packages (id)
)

CREATE INDEX ix_reading_golds_campaign_id ON reading_golds (campaign_id)

CREATE TABLE reading_pool (
  id VARCHAR NOT NULL,
  campaign_id VARCHAR NOT NULL,
  reading_package_id VARCHAR NOT NULL,
  "query" VARCHAR NOT NULL,
  document VARCHAR NOT NULL,
  part VARCHAR NOT NULL,
  bindings JSON NOT NULL,
  told JSON NOT NULL,
  digest VARCHAR NOT NULL,
  at DATETIME NOT NULL,
  CONSTRAINT pk_reading_pool PRIMARY KEY (id),
  CONSTRAINT uq_reading_pool_reading_package_id_digest UNIQUE (reading_package_id, digest),
  CONSTRAINT fk_reading_pool_campaign_id_campaigns FOREIGN KEY(campaign_id) REFERENCES campaigns (id),
  CONSTRAINT fk_reading_pool_reading_package_id_reading_packages FOREIGN KEY(reading_package_id) REFERENCES reading_packages (id)
)

CREATE INDEX ix_reading_pool_campaign_id ON reading_pool (campaign_id)

CREATE TABLE reading_tasks (
  id VARCHAR NOT NULL,
  campaign_id VARCHAR NOT NULL,
  reading_package_id VARCHAR NOT NULL,
  mode VARCHAR NOT NULL,
  team_id VARCHAR,
  part VARCHAR NOT NULL,
  sealed BOOLEAN NOT NULL,
  choice JSON NOT NULL,
  content VARCHAR NOT NULL,
  files JSON NOT NULL,
  queries JSON NOT NULL,
  documents INTEGER NOT NULL,
  made DATETIME NOT NULL,
  "by" VARCHAR NOT NULL,
  CONSTRAINT pk_reading_tasks PRIMARY KEY (id),
  CONSTRAINT fk_reading_tasks_campaign_id_campaigns FOREIGN KEY(campaign_id) REFERENCES campaigns (id),
  CONSTRAINT fk_reading_tasks_reading_package_id_reading_packages FOREIGN KEY(reading_package_id) REFERENCES reading_packages (id),
  CONSTRAINT fk_reading_tasks_team_id_teams FOREIGN KEY(team_id) REFERENCES teams (id)
)

CREATE INDEX ix_reading_tasks_whose ON reading_tasks (campaign_id, team_id)

CREATE TABLE resources (
  id VARCHAR NOT NULL,
  campaign_id VARCHAR NOT NULL,
  team_id VARCHAR NOT NULL,
  kind VARCHAR NOT NULL,
  language VARCHAR NOT NULL,
  description VARCHAR NOT NULL,
  used_in VARCHAR NOT NULL,
  share_by DATETIME,
  shared DATETIME,
  "where" VARCHAR NOT NULL,
  made DATETIME NOT NULL,
  made_by VARCHAR NOT NULL,
  withdrawn DATETIME,
  CONSTRAINT pk_resources PRIMARY KEY (id),
  CONSTRAINT fk_resources_campaign_id_campaigns FOREIGN KEY(campaign_id) REFERENCES campaigns (id),
  CONSTRAINT fk_resources_team_id_teams FOREIGN KEY(team_id) REFERENCES teams (id)
)

CREATE INDEX ix_resources_team_id ON resources (team_id)

CREATE TABLE signatures (
  id VARCHAR NOT NULL,
  campaign_id VARCHAR NOT NULL,
  team_id VARCHAR NOT NULL,
  agreement VARCHAR NOT NULL,
  version VARCHAR NOT NULL,
  signatory VARCHAR NOT NULL,
  copy_digest VARCHAR,
  state VARCHAR NOT NULL,
  uploaded DATETIME NOT NULL,
  executed DATETIME,
  executed_by VARCHAR,
  expires DATETIME,
  deletion_asked DATETIME,
  deletion_certified DATETIME,
  deletion_by VARCHAR,
  deletion_digest VARCHAR,
  CONSTRAINT pk_signatures PRIMARY KEY (id),
  CONSTRAINT fk_signatures_campaign_id_campaigns FOREIGN KEY(campaign_id) REFERENCES campaigns (id),
  CONSTRAINT fk_signatures_team_id_teams FOREIGN KEY(team_id) REFERENCES teams (id)
)

CREATE INDEX ix_signatures_team_id ON signatures (team_id)

CREATE TABLE submissions (
  id VARCHAR NOT NULL,
  campaign_id VARCHAR NOT NULL,
  team_id VARCHAR NOT NULL,
  person_id VARCHAR NOT NULL,
  number INTEGER NOT NULL,
  door VARCHAR NOT NULL,
  window VARCHAR NOT NULL,
  task VARCHAR NOT NULL,
  language VARCHAR NOT NULL,
  dataset VARCHAR NOT NULL,
  queryset VARCHAR NOT NULL,
  type VARCHAR NOT NULL,
  track VARCHAR NOT NULL,
  label VARCHAR NOT NULL,
  name VARCHAR NOT NULL,
  size BIGINT NOT NULL,
  sha256 VARCHAR NOT NULL,
  description JSON NOT NULL,
  plan_version INTEGER NOT NULL,
  started DATETIME NOT NULL,
  received DATETIME NOT NULL,
  standing VARCHAR NOT NULL,
  standing_reason VARCHAR NOT NULL,
  standing_by VARCHAR,
  admitted DATETIME,
  state VARCHAR NOT NULL,
  state_at DATETIME NOT NULL,
  problems_digest VARCHAR,
  fault VARCHAR NOT NULL,
  tries INTEGER NOT NULL,
  designated DATETIME,
  unsigned BOOLEAN NOT NULL,
  similar_to VARCHAR,
  CONSTRAINT pk_submissions PRIMARY KEY (id),
  CONSTRAINT uq_submissions_team_id_number UNIQUE (team_id, number),
  CONSTRAINT fk_submissions_campaign_id_campaigns FOREIGN KEY(campaign_id) REFERENCES campaigns (id),
  CONSTRAINT fk_submissions_team_id_teams FOREIGN KEY(team_id) REFERENCES teams (id)
)

CREATE INDEX ix_submissions_campaign_received ON submissions (campaign_id, received, id)

CREATE INDEX ix_submissions_sha256 ON submissions (campaign_id, sha256, received)

CREATE INDEX ix_submissions_standing ON submissions (campaign_id, window, standing)

CREATE INDEX ix_submissions_state ON submissions (state, received)

CREATE INDEX ix_submissions_team ON submissions (campaign_id, team_id, received, id)

CREATE INDEX ix_submissions_type ON submissions (campaign_id, window, type, task, language, track)

CREATE INDEX ix_submissions_unsigned ON submissions (unsigned, campaign_id, window)

CREATE INDEX ix_submissions_window_team ON submissions (campaign_id, window, team_id, task, language, state, received)

CREATE TABLE uploads (
  id VARCHAR NOT NULL,
  campaign_id VARCHAR NOT NULL,
  team_id VARCHAR NOT NULL,
  person_id VARCHAR NOT NULL,
  window VARCHAR NOT NULL,
  declared JSON NOT NULL,
  said JSON NOT NULL,
  size BIGINT NOT NULL,
  sha256 VARCHAR NOT NULL,
  "offset" BIGINT NOT NULL,
  door VARCHAR NOT NULL,
  started DATETIME NOT NULL,
  expires DATETIME NOT NULL,
  state VARCHAR NOT NULL,
  submission_id VARCHAR,
  whole BOOLEAN NOT NULL,
  holder VARCHAR,
  seen DATETIME,
  ended DATETIME,
  cause VARCHAR NOT NULL,
  CONSTRAINT pk_uploads PRIMARY KEY (id),
  CONSTRAINT fk_uploads_campaign_id_campaigns FOREIGN KEY(campaign_id) REFERENCES campaigns (id),
  CONSTRAINT fk_uploads_team_id_teams FOREIGN KEY(team_id) REFERENCES teams (id)
)

CREATE INDEX ix_uploads_team_state ON uploads (team_id, state)

CREATE TABLE annotation_tasks (
  id VARCHAR NOT NULL,
  campaign_id VARCHAR NOT NULL,
  annotation_project_id VARCHAR NOT NULL,
  annotation_document_id VARCHAR NOT NULL,
  person_id VARCHAR NOT NULL,
  role VARCHAR NOT NULL,
  position INTEGER NOT NULL,
  state VARCHAR NOT NULL,
  generation INTEGER NOT NULL,
  made DATETIME NOT NULL,
  "by" VARCHAR NOT NULL,
  opened DATETIME,
  finished DATETIME,
  CONSTRAINT pk_annotation_tasks PRIMARY KEY (id),
  CONSTRAINT uq_annotation_tasks_annotation_document_id_person_id UNIQUE (annotation_document_id, person_id),
  CONSTRAINT fk_annotation_tasks_campaign_id_campaigns FOREIGN KEY(campaign_id) REFERENCES campaigns (id),
  CONSTRAINT fk_annotation_tasks_annotation_project_id_annotation_projects FOREIGN KEY(annotation_project_id) REFERENCES annotation_projects (id),
  CONSTRAINT fk_annotation_tasks_annotation_document_id_annotation_documents FOREIGN KEY(annotation_document_id) REFERENCES annotation_documents (id)
)

CREATE INDEX ix_annotation_tasks_annotation_project_id ON annotation_tasks (annotation_project_id)

CREATE INDEX ix_annotation_tasks_campaign_id ON annotation_tasks (campaign_id)

CREATE INDEX ix_annotation_tasks_person_id ON annotation_tasks (person_id)

CREATE TABLE batch_items (
  id VARCHAR NOT NULL,
  batch_id VARCHAR NOT NULL,
  submission_id VARCHAR NOT NULL,
  old_key VARCHAR,
  new_key VARCHAR,
  state VARCHAR NOT NULL,
  CONSTRAINT pk_batch_items PRIMARY KEY (id),
  CONSTRAINT uq_batch_items_batch_id_submission_id UNIQUE (batch_id, submission_id),
  CONSTRAINT fk_batch_items_batch_id_batches FOREIGN KEY(batch_id) REFERENCES batches (id),
  CONSTRAINT fk_batch_items_submission_id_submissions FOREIGN KEY(submission_id) REFERENCES submissions (id)
)

CREATE TABLE panel_assignments (
  id VARCHAR NOT NULL,
  panel_id VARCHAR NOT NULL,
  item_id VARCHAR NOT NULL,
  person_id VARCHAR NOT NULL,
  round INTEGER NOT NULL,
  position INTEGER NOT NULL,
  flipped BOOLEAN NOT NULL,
  state VARCHAR NOT NULL,
  made DATETIME NOT NULL,
  shown DATETIME,
  CONSTRAINT pk_panel_assignments PRIMARY KEY (id),
  CONSTRAINT uq_panel_assignments_item_id_person_id UNIQUE (item_id, person_id),
  CONSTRAINT fk_panel_assignments_panel_id_panels FOREIGN KEY(panel_id) REFERENCES panels (id),
  CONSTRAINT fk_panel_assignments_item_id_panel_items FOREIGN KEY(item_id) REFERENCES panel_items (id)
)

CREATE INDEX ix_panel_assignments_judge ON panel_assignments (panel_id, person_id, round, position)

CREATE TABLE panel_decisions (
  id VARCHAR NOT NULL,
  panel_id VARCHAR NOT NULL,
  item_id VARCHAR NOT NULL,
  number INTEGER NOT NULL,
  kind VARCHAR NOT NULL,
  answers JSON NOT NULL,
  reason VARCHAR NOT NULL,
  "by" VARCHAR NOT NULL,
  at DATETIME NOT NULL,
  CONSTRAINT pk_panel_decisions PRIMARY KEY (id),
  CONSTRAINT uq_panel_decisions_item_id_number UNIQUE (item_id, number),
  CONSTRAINT fk_panel_decisions_panel_id_panels FOREIGN KEY(panel_id) REFERENCES panels (id),
  CONSTRAINT fk_panel_decisions_item_id_panel_items FOREIGN KEY(item_id) REFERENCES panel_items (id)
)

CREATE INDEX ix_panel_decisions_panel_id ON panel_decisions (panel_id)

CREATE TABLE panel_hidden (
  id VARCHAR NOT NULL,
  panel_id VARCHAR NOT NULL,
  item_id VARCHAR NOT NULL,
  block INTEGER NOT NULL,
  reason VARCHAR NOT NULL,
  "by" VARCHAR NOT NULL,
  at DATETIME NOT NULL,
  CONSTRAINT pk_panel_hidden PRIMARY KEY (id),
  CONSTRAINT uq_panel_hidden_item_id_block UNIQUE (item_id, block),
  CONSTRAINT fk_panel_hidden_panel_id_panels FOREIGN KEY(panel_id) REFERENCES panels (id),
  CONSTRAINT fk_panel_hidden_item_id_panel_items FOREIGN KEY(item_id) REFERENCES panel_items (id)
)

CREATE INDEX ix_panel_hidden_panel_id ON panel_hidden (panel_id)

CREATE TABLE reading_decisions (
  id VARCHAR NOT NULL,
  campaign_id VARCHAR NOT NULL,
  reading_pool_id VARCHAR NOT NULL,
  sequence INTEGER NOT NULL,
  verdict VARCHAR NOT NULL,
  same_as VARCHAR NOT NULL,
  why VARCHAR NOT NULL,
  at DATETIME NOT NULL,
  "by" VARCHAR NOT NULL,
  CONSTRAINT pk_reading_decisions PRIMARY KEY (id),
  CONSTRAINT uq_reading_decisions_reading_pool_id_sequence UNIQUE (reading_pool_id, sequence),
  CONSTRAINT fk_reading_decisions_campaign_id_campaigns FOREIGN KEY(campaign_id) REFERENCES campaigns (id),
  CONSTRAINT fk_reading_decisions_reading_pool_id_reading_pool FOREIGN KEY(reading_pool_id) REFERENCES reading_pool (id)
)

CREATE INDEX ix_reading_decisions_campaign_id ON reading_decisions (campaign_id)

CREATE TABLE reading_runs (
  id VARCHAR NOT NULL,
  campaign_id VARCHAR NOT NULL,
  reading_package_id VARCHAR NOT NULL,
  reading_task_id VARCHAR NOT NULL,
  side VARCHAR NOT NULL,
  team_id VARCHAR,
  whose VARCHAR NOT NULL,
  label VARCHAR NOT NULL,
  "key" VARCHAR NOT NULL,
  made DATETIME NOT NULL,
  person_id VARCHAR NOT NULL,
  CONSTRAINT pk_reading_runs PRIMARY KEY (id),
  CONSTRAINT uq_reading_runs_reading_task_id_whose_key UNIQUE (reading_task_id, whose, "key"),
  CONSTRAINT fk_reading_runs_campaign_id_campaigns FOREIGN KEY(campaign_id) REFERENCES campaigns (id),
  CONSTRAINT fk_reading_runs_reading_package_id_reading_packages FOREIGN KEY(reading_package_id) REFERENCES reading_packages (id),
  CONSTRAINT fk_reading_runs_reading_task_id_reading_tasks FOREIGN KEY(reading_task_id) REFERENCES reading_tasks (id),
  CONSTRAINT fk_reading_runs_team_id_teams FOREIGN KEY(team_id) REFERENCES teams (id)
)

CREATE INDEX ix_reading_runs_campaign_id ON reading_runs (campaign_id)

CREATE TABLE receipts (
  id VARCHAR NOT NULL,
  submission_id VARCHAR NOT NULL,
  kind VARCHAR NOT NULL,
  result_key VARCHAR,
  content BLOB NOT NULL,
  key_id VARCHAR NOT NULL,
  supersedes VARCHAR,
  at DATETIME NOT NULL,
  CONSTRAINT pk_receipts PRIMARY KEY (id),
  CONSTRAINT fk_receipts_submission_id_submissions FOREIGN KEY(submission_id) REFERENCES submissions (id)
)

CREATE INDEX ix_receipts_submission ON receipts (submission_id)

CREATE TABLE results (
  "key" VARCHAR NOT NULL,
  submission_id VARCHAR NOT NULL,
  reference_id VARCHAR NOT NULL,
  digest VARCHAR NOT NULL,
  figures VARCHAR,
  "primary" DOUBLE,
  settings JSON NOT NULL,
  software VARCHAR NOT NULL,
  plan_version INTEGER NOT NULL,
  at DATETIME NOT NULL,
  CONSTRAINT pk_results PRIMARY KEY ("key"),
  CONSTRAINT fk_results_submission_id_submissions FOREIGN KEY(submission_id) REFERENCES submissions (id),
  CONSTRAINT fk_results_reference_id_references FOREIGN KEY(reference_id) REFERENCES "references" (id)
)

CREATE INDEX ix_results_reference_id ON results (reference_id)

CREATE INDEX ix_results_submission_id ON results (submission_id)

CREATE TABLE sketches (
  submission_id VARCHAR NOT NULL,
  value VARCHAR NOT NULL,
  CONSTRAINT pk_sketches PRIMARY KEY (submission_id, value),
  CONSTRAINT fk_sketches_submission_id_submissions FOREIGN KEY(submission_id) REFERENCES submissions (id)
)

CREATE INDEX ix_sketches_value ON sketches (value)

CREATE TABLE adoptions (
  sequence INTEGER NOT NULL,
  submission_id VARCHAR NOT NULL,
  result_key VARCHAR NOT NULL,
  batch_id VARCHAR,
  at DATETIME NOT NULL,
  CONSTRAINT pk_adoptions PRIMARY KEY (sequence),
  CONSTRAINT fk_adoptions_submission_id_submissions FOREIGN KEY(submission_id) REFERENCES submissions (id),
  CONSTRAINT fk_adoptions_result_key_results FOREIGN KEY(result_key) REFERENCES results ("key")
)

CREATE INDEX ix_adoptions_submission ON adoptions (submission_id, sequence)

CREATE TABLE annotation_decisions (
  id VARCHAR NOT NULL,
  campaign_id VARCHAR NOT NULL,
  annotation_document_id VARCHAR NOT NULL,
  annotation_task_id VARCHAR NOT NULL,
  generation INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  "case" VARCHAR NOT NULL,
  verdict VARCHAR NOT NULL,
  chosen VARCHAR NOT NULL,
  code VARCHAR NOT NULL,
  note VARCHAR NOT NULL,
  events JSON NOT NULL,
  at DATETIME NOT NULL,
  "by" VARCHAR NOT NULL,
  CONSTRAINT pk_annotation_decisions PRIMARY KEY (id),
  CONSTRAINT fk_annotation_decisions_campaign_id_campaigns FOREIGN KEY(campaign_id) REFERENCES campaigns (id),
  CONSTRAINT fk_annotation_decisions_annotation_document_id_annotation_documents FOREIGN KEY(annotation_document_id) REFERENCES annotation_documents (id),
  CONSTRAINT fk_annotation_decisions_annotation_task_id_annotation_tasks FOREIGN KEY(annotation_task_id) REFERENCES annotation_tasks (id)
)

CREATE INDEX ix_annotation_decisions_campaign_id ON annotation_decisions (campaign_id)

CREATE INDEX ix_annotation_decisions_case ON annotation_decisions (annotation_document_id, "case")

CREATE TABLE annotation_events (
  id VARCHAR NOT NULL,
  campaign_id VARCHAR NOT NULL,
  annotation_task_id VARCHAR NOT NULL,
  generation INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  client_id VARCHAR NOT NULL,
  kind VARCHAR NOT NULL,
  data JSON NOT NULL,
  at DATETIME NOT NULL,
  CONSTRAINT pk_annotation_events PRIMARY KEY (id),
  CONSTRAINT uq_annotation_events_annotation_task_id_generation_sequence UNIQUE (annotation_task_id, generation, sequence),
  CONSTRAINT uq_annotation_events_annotation_task_id_generation_client_id UNIQUE (annotation_task_id, generation, client_id),
  CONSTRAINT fk_annotation_events_campaign_id_campaigns FOREIGN KEY(campaign_id) REFERENCES campaigns (id),
  CONSTRAINT fk_annotation_events_annotation_task_id_annotation_tasks FOREIGN KEY(annotation_task_id) REFERENCES annotation_tasks (id)
)

CREATE INDEX ix_annotation_events_campaign_id ON annotation_events (campaign_id)

CREATE TABLE judgements (
  id VARCHAR NOT NULL,
  panel_id VARCHAR NOT NULL,
  assignment_id VARCHAR NOT NULL,
  item_id VARCHAR NOT NULL,
  person_id VARCHAR NOT NULL,
  number INTEGER NOT NULL,
  "key" VARCHAR NOT NULL,
  answers JSON NOT NULL,
  flags JSON NOT NULL,
  seconds DOUBLE NOT NULL,
  scheme_version INTEGER NOT NULL,
  at DATETIME NOT NULL,
  CONSTRAINT pk_judgements PRIMARY KEY (id),
  CONSTRAINT uq_judgements_assignment_id_number UNIQUE (assignment_id, number),
  CONSTRAINT uq_judgements_panel_id_person_id_key UNIQUE (panel_id, person_id, "key"),
  CONSTRAINT fk_judgements_panel_id_panels FOREIGN KEY(panel_id) REFERENCES panels (id),
  CONSTRAINT fk_judgements_assignment_id_panel_assignments FOREIGN KEY(assignment_id) REFERENCES panel_assignments (id),
  CONSTRAINT fk_judgements_item_id_panel_items FOREIGN KEY(item_id) REFERENCES panel_items (id)
)

CREATE INDEX ix_judgements_item ON judgements (item_id)

CREATE TABLE reading_marks (
  id VARCHAR NOT NULL,
  campaign_id VARCHAR NOT NULL,
  reading_run_id VARCHAR NOT NULL,
  "query" VARCHAR NOT NULL,
  document VARCHAR NOT NULL,
  state VARCHAR NOT NULL,
  at DATETIME NOT NULL,
  CONSTRAINT pk_reading_marks PRIMARY KEY (id),
  CONSTRAINT uq_reading_marks_reading_run_id_query_document UNIQUE (reading_run_id, "query", document),
  CONSTRAINT fk_reading_marks_campaign_id_campaigns FOREIGN KEY(campaign_id) REFERENCES campaigns (id),
  CONSTRAINT fk_reading_marks_reading_run_id_reading_runs FOREIGN KEY(reading_run_id) REFERENCES reading_runs (id)
)

CREATE INDEX ix_reading_marks_campaign_id ON reading_marks (campaign_id)

CREATE TABLE reading_scores (
  "key" VARCHAR NOT NULL,
  campaign_id VARCHAR NOT NULL,
  reading_run_id VARCHAR NOT NULL,
  gold VARCHAR NOT NULL,
  digest VARCHAR NOT NULL,
  "primary" DOUBLE,
  at DATETIME NOT NULL,
  CONSTRAINT pk_reading_scores PRIMARY KEY ("key"),
  CONSTRAINT fk_reading_scores_campaign_id_campaigns FOREIGN KEY(campaign_id) REFERENCES campaigns (id),
  CONSTRAINT fk_reading_scores_reading_run_id_reading_runs FOREIGN KEY(reading_run_id) REFERENCES reading_runs (id)
)

CREATE INDEX ix_reading_scores_campaign_id ON reading_scores (campaign_id)

CREATE INDEX ix_reading_scores_reading_run_id ON reading_scores (reading_run_id)

CREATE TABLE reading_uploads (
  id VARCHAR NOT NULL,
  campaign_id VARCHAR NOT NULL,
  reading_run_id VARCHAR NOT NULL,
  "key" VARCHAR NOT NULL,
  digest VARCHAR NOT NULL,
  media VARCHAR NOT NULL,
  taken INTEGER NOT NULL,
  problems JSON NOT NULL,
  counted INTEGER NOT NULL,
  at DATETIME NOT NULL,
  person_id VARCHAR NOT NULL,
  CONSTRAINT pk_reading_uploads PRIMARY KEY (id),
  CONSTRAINT uq_reading_uploads_reading_run_id_key UNIQUE (reading_run_id, "key"),
  CONSTRAINT fk_reading_uploads_campaign_id_campaigns FOREIGN KEY(campaign_id) REFERENCES campaigns (id),
  CONSTRAINT fk_reading_uploads_reading_run_id_reading_runs FOREIGN KEY(reading_run_id) REFERENCES reading_runs (id)
)

CREATE INDEX ix_reading_uploads_campaign_id ON reading_uploads (campaign_id)

CREATE TABLE reading_answers (
  id VARCHAR NOT NULL,
  campaign_id VARCHAR NOT NULL,
  reading_run_id VARCHAR NOT NULL,
  reading_upload_id VARCHAR,
  reading_pool_id VARCHAR NOT NULL,
  sequence INTEGER NOT NULL,
  line INTEGER NOT NULL,
  kind VARCHAR NOT NULL,
  provenance JSON NOT NULL,
  withdraws VARCHAR,
  at DATETIME NOT NULL,
  CONSTRAINT pk_reading_answers PRIMARY KEY (id),
  CONSTRAINT fk_reading_answers_campaign_id_campaigns FOREIGN KEY(campaign_id) REFERENCES campaigns (id),
  CONSTRAINT fk_reading_answers_reading_run_id_reading_runs FOREIGN KEY(reading_run_id) REFERENCES reading_runs (id),
  CONSTRAINT fk_reading_answers_reading_upload_id_reading_uploads FOREIGN KEY(reading_upload_id) REFERENCES reading_uploads (id),
  CONSTRAINT fk_reading_answers_reading_pool_id_reading_pool FOREIGN KEY(reading_pool_id) REFERENCES reading_pool (id)
)

CREATE INDEX ix_reading_answers_campaign_id ON reading_answers (campaign_id)

CREATE INDEX ix_reading_answers_reading_pool_id ON reading_answers (reading_pool_id)

CREATE INDEX ix_reading_answers_run ON reading_answers (reading_run_id, sequence)

DROP TRIGGER IF EXISTS adoptions_no_update

CREATE TRIGGER adoptions_no_update BEFORE UPDATE ON "adoptions" BEGIN SELECT RAISE(ABORT, 'adoptions is kept for ever: UPDATE refused'); END

DROP TRIGGER IF EXISTS annotation_configs_no_update

CREATE TRIGGER annotation_configs_no_update BEFORE UPDATE ON "annotation_configs" BEGIN SELECT RAISE(ABORT, 'annotation_configs is kept for ever: UPDATE refused'); END

DROP TRIGGER IF EXISTS annotation_decisions_no_update

CREATE TRIGGER annotation_decisions_no_update BEFORE UPDATE ON "annotation_decisions" BEGIN SELECT RAISE(ABORT, 'annotation_decisions is kept for ever: UPDATE refused'); END

DROP TRIGGER IF EXISTS annotation_documents_no_update

CREATE TRIGGER annotation_documents_no_update BEFORE UPDATE ON "annotation_documents" BEGIN SELECT RAISE(ABORT, 'annotation_documents is kept for ever: UPDATE refused'); END

DROP TRIGGER IF EXISTS annotation_events_no_update

CREATE TRIGGER annotation_events_no_update BEFORE UPDATE ON "annotation_events" BEGIN SELECT RAISE(ABORT, 'annotation_events is kept for ever: UPDATE refused'); END

DROP TRIGGER IF EXISTS events_no_update

CREATE TRIGGER events_no_update BEFORE UPDATE ON "events" BEGIN SELECT RAISE(ABORT, 'events is kept for ever: UPDATE refused'); END

DROP TRIGGER IF EXISTS judgements_no_update

CREATE TRIGGER judgements_no_update BEFORE UPDATE ON "judgements" BEGIN SELECT RAISE(ABORT, 'judgements is kept for ever: UPDATE refused'); END

DROP TRIGGER IF EXISTS panel_consents_no_update

CREATE TRIGGER panel_consents_no_update BEFORE UPDATE ON "panel_consents" BEGIN SELECT RAISE(ABORT, 'panel_consents is kept for ever: UPDATE refused'); END

DROP TRIGGER IF EXISTS panel_decisions_no_update

CREATE TRIGGER panel_decisions_no_update BEFORE UPDATE ON "panel_decisions" BEGIN SELECT RAISE(ABORT, 'panel_decisions is kept for ever: UPDATE refused'); END

DROP TRIGGER IF EXISTS panel_hidden_no_update

CREATE TRIGGER panel_hidden_no_update BEFORE UPDATE ON "panel_hidden" BEGIN SELECT RAISE(ABORT, 'panel_hidden is kept for ever: UPDATE refused'); END

DROP TRIGGER IF EXISTS panel_images_no_update

CREATE TRIGGER panel_images_no_update BEFORE UPDATE ON "panel_images" BEGIN SELECT RAISE(ABORT, 'panel_images is kept for ever: UPDATE refused'); END

DROP TRIGGER IF EXISTS panel_round_ends_no_update

CREATE TRIGGER panel_round_ends_no_update BEFORE UPDATE ON "panel_round_ends" BEGIN SELECT RAISE(ABORT, 'panel_round_ends is kept for ever: UPDATE refused'); END

DROP TRIGGER IF EXISTS panel_schemes_no_update

CREATE TRIGGER panel_schemes_no_update BEFORE UPDATE ON "panel_schemes" BEGIN SELECT RAISE(ABORT, 'panel_schemes is kept for ever: UPDATE refused'); END

DROP TRIGGER IF EXISTS reading_answers_no_update

CREATE TRIGGER reading_answers_no_update BEFORE UPDATE ON "reading_answers" BEGIN SELECT RAISE(ABORT, 'reading_answers is kept for ever: UPDATE refused'); END

DROP TRIGGER IF EXISTS reading_decisions_no_update

CREATE TRIGGER reading_decisions_no_update BEFORE UPDATE ON "reading_decisions" BEGIN SELECT RAISE(ABORT, 'reading_decisions is kept for ever: UPDATE refused'); END

DROP TRIGGER IF EXISTS reading_pool_no_update

CREATE TRIGGER reading_pool_no_update BEFORE UPDATE ON "reading_pool" BEGIN SELECT RAISE(ABORT, 'reading_pool is kept for ever: UPDATE refused'); END

DROP TRIGGER IF EXISTS reading_scores_no_update

CREATE TRIGGER reading_scores_no_update BEFORE UPDATE ON "reading_scores" BEGIN SELECT RAISE(ABORT, 'reading_scores is kept for ever: UPDATE refused'); END

DROP TRIGGER IF EXISTS reading_searches_no_update

CREATE TRIGGER reading_searches_no_update BEFORE UPDATE ON "reading_searches" BEGIN SELECT RAISE(ABORT, 'reading_searches is kept for ever: UPDATE refused'); END

DROP TRIGGER IF EXISTS reading_uploads_no_update

CREATE TRIGGER reading_uploads_no_update BEFORE UPDATE ON "reading_uploads" BEGIN SELECT RAISE(ABORT, 'reading_uploads is kept for ever: UPDATE refused'); END

DROP TRIGGER IF EXISTS receipts_no_update

CREATE TRIGGER receipts_no_update BEFORE UPDATE ON "receipts" BEGIN SELECT RAISE(ABORT, 'receipts is kept for ever: UPDATE refused'); END

DROP TRIGGER IF EXISTS results_no_update

CREATE TRIGGER results_no_update BEFORE UPDATE ON "results" BEGIN SELECT RAISE(ABORT, 'results is kept for ever: UPDATE refused'); END

DROP TRIGGER IF EXISTS adoptions_no_delete

CREATE TRIGGER adoptions_no_delete BEFORE DELETE ON "adoptions" BEGIN SELECT RAISE(ABORT, 'adoptions is kept for ever: DELETE refused'); END

DROP TRIGGER IF EXISTS annotation_configs_no_delete

CREATE TRIGGER annotation_configs_no_delete BEFORE DELETE ON "annotation_configs" BEGIN SELECT RAISE(ABORT, 'annotation_configs is kept for ever: DELETE refused'); END

DROP TRIGGER IF EXISTS annotation_decisions_no_delete

CREATE TRIGGER annotation_decisions_no_delete BEFORE DELETE ON "annotation_decisions" BEGIN SELECT RAISE(ABORT, 'annotation_decisions is kept for ever: DELETE refused'); END

DROP TRIGGER IF EXISTS annotation_documents_no_delete

CREATE TRIGGER annotation_documents_no_delete BEFORE DELETE ON "annotation_documents" BEGIN SELECT RAISE(ABORT, 'annotation_documents is kept for ever: DELETE refused'); END

DROP TRIGGER IF EXISTS annotation_events_no_delete

CREATE TRIGGER annotation_events_no_delete BEFORE DELETE ON "annotation_events" BEGIN SELECT RAISE(ABORT, 'annotation_events is kept for ever: DELETE refused'); END

DROP TRIGGER IF EXISTS events_no_delete

CREATE TRIGGER events_no_delete BEFORE DELETE ON "events" BEGIN SELECT RAISE(ABORT, 'events is kept for ever: DELETE refused'); END

DROP TRIGGER IF EXISTS judgements_no_delete

CREATE TRIGGER judgements_no_delete BEFORE DELETE ON "judgements" BEGIN SELECT RAISE(ABORT, 'judgements is kept for ever: DELETE refused'); END

DROP TRIGGER IF EXISTS panel_consents_no_delete

CREATE TRIGGER panel_consents_no_delete BEFORE DELETE ON "panel_consents" BEGIN SELECT RAISE(ABORT, 'panel_consents is kept for ever: DELETE refused'); END

DROP TRIGGER IF EXISTS panel_decisions_no_delete

CREATE TRIGGER panel_decisions_no_delete BEFORE DELETE ON "panel_decisions" BEGIN SELECT RAISE(ABORT, 'panel_decisions is kept for ever: DELETE refused'); END

DROP TRIGGER IF EXISTS panel_hidden_no_delete

CREATE TRIGGER panel_hidden_no_delete BEFORE DELETE ON "panel_hidden" BEGIN SELECT RAISE(ABORT, 'panel_hidden is kept for ever: DELETE refused'); END

DROP TRIGGER IF EXISTS panel_images_no_delete

CREATE TRIGGER panel_images_no_delete BEFORE DELETE ON "panel_images" BEGIN SELECT RAISE(ABORT, 'panel_images is kept for ever: DELETE refused'); END

DROP TRIGGER IF EXISTS panel_round_ends_no_delete

CREATE TRIGGER panel_round_ends_no_delete BEFORE DELETE ON "panel_round_ends" BEGIN SELECT RAISE(ABORT, 'panel_round_ends is kept for ever: DELETE refused'); END

DROP TRIGGER IF EXISTS panel_schemes_no_delete

CREATE TRIGGER panel_schemes_no_delete BEFORE DELETE ON "panel_schemes" BEGIN SELECT RAISE(ABORT, 'panel_schemes is kept for ever: DELETE refused'); END

DROP TRIGGER IF EXISTS reading_answers_no_delete

CREATE TRIGGER reading_answers_no_delete BEFORE DELETE ON "reading_answers" BEGIN SELECT RAISE(ABORT, 'reading_answers is kept for ever: DELETE refused'); END

DROP TRIGGER IF EXISTS reading_decisions_no_delete

CREATE TRIGGER reading_decisions_no_delete BEFORE DELETE ON "reading_decisions" BEGIN SELECT RAISE(ABORT, 'reading_decisions is kept for ever: DELETE refused'); END

DROP TRIGGER IF EXISTS reading_pool_no_delete

CREATE TRIGGER reading_pool_no_delete BEFORE DELETE ON "reading_pool" BEGIN SELECT RAISE(ABORT, 'reading_pool is kept for ever: DELETE refused'); END

DROP TRIGGER IF EXISTS reading_scores_no_delete

CREATE TRIGGER reading_scores_no_delete BEFORE DELETE ON "reading_scores" BEGIN SELECT RAISE(ABORT, 'reading_scores is kept for ever: DELETE refused'); END

DROP TRIGGER IF EXISTS reading_searches_no_delete

CREATE TRIGGER reading_searches_no_delete BEFORE DELETE ON "reading_searches" BEGIN SELECT RAISE(ABORT, 'reading_searches is kept for ever: DELETE refused'); END

DROP TRIGGER IF EXISTS reading_uploads_no_delete

CREATE TRIGGER reading_uploads_no_delete BEFORE DELETE ON "reading_uploads" BEGIN SELECT RAISE(ABORT, 'reading_uploads is kept for ever: DELETE refused'); END

DROP TRIGGER IF EXISTS receipts_no_delete

CREATE TRIGGER receipts_no_delete BEFORE DELETE ON "receipts" BEGIN SELECT RAISE(ABORT, 'receipts is kept for ever: DELETE refused'); END

DROP TRIGGER IF EXISTS results_no_delete

CREATE TRIGGER results_no_delete BEFORE DELETE ON "results" BEGIN SELECT RAISE(ABORT, 'results is kept for ever: DELETE refused'); END

DROP TRIGGER IF EXISTS annotation_projects_no_delete

CREATE TRIGGER annotation_projects_no_delete BEFORE DELETE ON "annotation_projects" BEGIN SELECT RAISE(ABORT, 'annotation_projects is kept for ever: DELETE refused'); END

DROP TRIGGER IF EXISTS annotation_tasks_no_delete

CREATE TRIGGER annotation_tasks_no_delete BEFORE DELETE ON "annotation_tasks" BEGIN SELECT RAISE(ABORT, 'annotation_tasks is kept for ever: DELETE refused'); END

DROP TRIGGER IF EXISTS appeals_no_delete

CREATE TRIGGER appeals_no_delete BEFORE DELETE ON "appeals" BEGIN SELECT RAISE(ABORT, 'appeals is kept for ever: DELETE refused'); END

DROP TRIGGER IF EXISTS charges_no_delete

CREATE TRIGGER charges_no_delete BEFORE DELETE ON "charges" BEGIN SELECT RAISE(ABORT, 'charges is kept for ever: DELETE refused'); END

DROP TRIGGER IF EXISTS crowd_batches_no_delete

CREATE TRIGGER crowd_batches_no_delete BEFORE DELETE ON "crowd_batches" BEGIN SELECT RAISE(ABORT, 'crowd_batches is kept for ever: DELETE refused'); END

DROP TRIGGER IF EXISTS deviations_no_delete

CREATE TRIGGER deviations_no_delete BEFORE DELETE ON "deviations" BEGIN SELECT RAISE(ABORT, 'deviations is kept for ever: DELETE refused'); END

DROP TRIGGER IF EXISTS extras_no_delete

CREATE TRIGGER extras_no_delete BEFORE DELETE ON "extras" BEGIN SELECT RAISE(ABORT, 'extras is kept for ever: DELETE refused'); END

DROP TRIGGER IF EXISTS freezes_no_delete

CREATE TRIGGER freezes_no_delete BEFORE DELETE ON "freezes" BEGIN SELECT RAISE(ABORT, 'freezes is kept for ever: DELETE refused'); END

DROP TRIGGER IF EXISTS panel_assignments_no_delete

CREATE TRIGGER panel_assignments_no_delete BEFORE DELETE ON "panel_assignments" BEGIN SELECT RAISE(ABORT, 'panel_assignments is kept for ever: DELETE refused'); END

DROP TRIGGER IF EXISTS panel_items_no_delete

CREATE TRIGGER panel_items_no_delete BEFORE DELETE ON "panel_items" BEGIN SELECT RAISE(ABORT, 'panel_items is kept for ever: DELETE refused'); END

DROP TRIGGER IF EXISTS panel_seats_no_delete

CREATE TRIGGER panel_seats_no_delete BEFORE DELETE ON "panel_seats" BEGIN SELECT RAISE(ABORT, 'panel_seats is kept for ever: DELETE refused'); END

DROP TRIGGER IF EXISTS panels_no_delete

CREATE TRIGGER panels_no_delete BEFORE DELETE ON "panels" BEGIN SELECT RAISE(ABORT, 'panels is kept for ever: DELETE refused'); END

DROP TRIGGER IF EXISTS plans_no_delete

CREATE TRIGGER plans_no_delete BEFORE DELETE ON "plans" BEGIN SELECT RAISE(ABORT, 'plans is kept for ever: DELETE refused'); END

DROP TRIGGER IF EXISTS reading_golds_no_delete

CREATE TRIGGER reading_golds_no_delete BEFORE DELETE ON "reading_golds" BEGIN SELECT RAISE(ABORT, 'reading_golds is kept for ever: DELETE refused'); END

DROP TRIGGER IF EXISTS reading_marks_no_delete

CREATE TRIGGER reading_marks_no_delete BEFORE DELETE ON "reading_marks" BEGIN SELECT RAISE(ABORT, 'reading_marks is kept for ever: DELETE refused'); END

DROP TRIGGER IF EXISTS reading_packages_no_delete

CREATE TRIGGER reading_packages_no_delete BEFORE DELETE ON "reading_packages" BEGIN SELECT RAISE(ABORT, 'reading_packages is kept for ever: DELETE refused'); END

DROP TRIGGER IF EXISTS reading_runs_no_delete

CREATE TRIGGER reading_runs_no_delete BEFORE DELETE ON "reading_runs" BEGIN SELECT RAISE(ABORT, 'reading_runs is kept for ever: DELETE refused'); END

DROP TRIGGER IF EXISTS reading_tasks_no_delete

CREATE TRIGGER reading_tasks_no_delete BEFORE DELETE ON "reading_tasks" BEGIN SELECT RAISE(ABORT, 'reading_tasks is kept for ever: DELETE refused'); END

DROP TRIGGER IF EXISTS references_no_delete

CREATE TRIGGER references_no_delete BEFORE DELETE ON "references" BEGIN SELECT RAISE(ABORT, 'references is kept for ever: DELETE refused'); END

DROP TRIGGER IF EXISTS releases_no_delete

CREATE TRIGGER releases_no_delete BEFORE DELETE ON "releases" BEGIN SELECT RAISE(ABORT, 'releases is kept for ever: DELETE refused'); END

DROP TRIGGER IF EXISTS submissions_no_delete

CREATE TRIGGER submissions_no_delete BEFORE DELETE ON "submissions" BEGIN SELECT RAISE(ABORT, 'submissions is kept for ever: DELETE refused'); END

DROP TRIGGER IF EXISTS uploads_no_delete

CREATE TRIGGER uploads_no_delete BEFORE DELETE ON "uploads" BEGIN SELECT RAISE(ABORT, 'uploads is kept for ever: DELETE refused'); END
