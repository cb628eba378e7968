-- The data of a small database of version 0.x, as pg_dump prints it by the commands of docs/upgrading.md: what the columns were called.
SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = on;
COPY app_hidden.organizations (id, name) FROM stdin;
01a21b0d-e9fe-792b-8cea-7eb3832132a7	Acme
\.
COPY oauth.applications (organization_id, id, name, client_id, confidential, scopes, redirect_uris, mobile_app_authentication_type, disabled_at) FROM stdin;
01a21b0d-e9fe-792b-8cea-7eb3832132a7	01a21b0d-eb10-715c-b8d6-3ad3ee34d6ce	Back	acme-backend	t	{app,basic}	{}	\N	\N
01a21b0d-e9fe-792b-8cea-7eb3832132a7	01a21b0d-eb23-7789-a3f9-d79394524a57	Mobile	acme-mobile	f	{me}	{http://127.0.0.1/callback}	password	\N
\.
COPY app_hidden.idempotency_keys (organization_id, application_id, principal_id, role, key_hash, answer_ciphertext, expires_at) FROM stdin;
\.
COPY app_hidden.idempotency_usage (organization_id, expires_at, slot, keys, bytes) FROM stdin;
\.
COPY app_public.units (organization_id, id, parent_id, external_identifier, name, ancestor_ids, created_at, updated_at) FROM stdin;
01a21b0d-e9fe-792b-8cea-7eb3832132a7	01a21b0d-ebd5-7e62-ba5c-f87e9c673fd8	\N	hq	Headquarters	{01a21b0d-ebd5-7e62-ba5c-f87e9c673fd8}	2026-11-27 03:30:26.326846+00	2026-11-27 03:30:26.326846+00
01a21b0d-e9fe-792b-8cea-7eb3832132a7	01a21b0d-ebd6-73c2-b262-f3946557e6b2	01a21b0d-ebd5-7e62-ba5c-f87e9c673fd8	hq-1	Floor 1	{01a21b0d-ebd5-7e62-ba5c-f87e9c673fd8,01a21b0d-ebd6-73c2-b262-f3946557e6b2}	2026-11-27 03:30:26.326846+00	2026-11-27 03:30:26.326846+00
\.
COPY app_public.users (organization_id, id, external_identifier, full_name, email, locale, time_zone, external_authentication_token_ciphertext, external_authentication_token_hash, created_at, updated_at) FROM stdin;
01a21b0d-e9fe-792b-8cea-7eb3832132a7	01a21b0e-64d0-71e7-9b0b-907ef5061695	\N	Grace	g@acme.test	en	UTC	\N	\N	2026-11-27 03:30:57.870879+00	2026-11-27 03:30:57.870879+00
01a21b0d-e9fe-792b-8cea-7eb3832132a7	01a21b0d-eaad-7fca-bde0-1a90434bff75	u-1	Ada L	ada@acme.test	en	Berlin	\\xd77931184dffe3b693219bf72e2bac3ebd9966fee3dfad6eefe76ab7370a998d8f30bd09a79a83803daf267871c5318990501d112cfb	\\x1de55ad8dcc8e40195bca702e34361f19b540f7f62b636a92cfaf8b717dbcdfc	2026-11-27 03:30:26.326846+00	2026-11-27 03:30:58.133557+00
\.
COPY app_hidden.unit_access (organization_id, user_id, unit_id, created_at) FROM stdin;
01a21b0d-e9fe-792b-8cea-7eb3832132a7	01a21b0d-eaad-7fca-bde0-1a90434bff75	01a21b0d-ebd5-7e62-ba5c-f87e9c673fd8	2026-11-27 03:30:26.326846+00
\.
COPY app_hidden.unit_ancestors (organization_id, ancestor_id, unit_id) FROM stdin;
01a21b0d-e9fe-792b-8cea-7eb3832132a7	01a21b0d-ebd5-7e62-ba5c-f87e9c673fd8	01a21b0d-ebd5-7e62-ba5c-f87e9c673fd8
01a21b0d-e9fe-792b-8cea-7eb3832132a7	01a21b0d-ebd5-7e62-ba5c-f87e9c673fd8	01a21b0d-ebd6-73c2-b262-f3946557e6b2
01a21b0d-e9fe-792b-8cea-7eb3832132a7	01a21b0d-ebd6-73c2-b262-f3946557e6b2	01a21b0d-ebd6-73c2-b262-f3946557e6b2
\.
COPY app_public.webhooks (organization_id, id, url, type_names, enabled, secret_ciphertext, previous_secret_ciphertext, previous_valid_until, created_at) FROM stdin;
01a21b0d-e9fe-792b-8cea-7eb3832132a7	01a21b0e-6540-725d-8e5d-e5ffb0efff40	https://example.com/x	\N	t	\\x16ac1936ada95738f530b183fa1c0ea3684672ba2f1bca6df95fc0116dff2a76e821209d7d0168c8fa8de2e46051283994921e0cba48006fb6edc4a75e8e17af0e1f	\N	\N	2026-11-27 03:30:58.019666+00
\.
COPY app_hidden.webhook_positions (organization_id, webhook_id, origin, horizon, change_id, at, leased_until) FROM stdin;
01a21b0d-e9fe-792b-8cea-7eb3832132a7	01a21b0e-6540-725d-8e5d-e5ffb0efff40	-9121179551546528187	1454	10	2026-11-27 03:30:58.52054+00	\N
\.
COPY app_public.cards (organization_id, id, type, name, proximity_uuid, major, minor, nfc_identifier, external_identifier, created_at, updated_at) FROM stdin;
01a21b0d-e9fe-792b-8cea-7eb3832132a7	01a21b0d-ee79-737c-9a8b-c0142cc8c156	NfcCard	Badge	\N	\N	\N	04A224B2C13A80	\N	2026-11-27 03:30:26.326846+00	2026-11-27 03:30:26.326846+00
01a21b0d-e9fe-792b-8cea-7eb3832132a7	01a21b0d-ee7a-73c2-8daf-a9d2c5b9e306	BeaconCard	Phone	f7826da6-4fa2-4e98-8024-bc5b71e0893e	1	65535	\N	\N	2026-11-27 03:30:26.326846+00	2026-11-27 03:30:26.326846+00
\.
COPY app_public.card_assignments (organization_id, id, user_id, card_id, created_at) FROM stdin;
01a21b0d-e9fe-792b-8cea-7eb3832132a7	01a21b0d-ee79-74dd-9580-302444ecfe3f	01a21b0d-eaad-7fca-bde0-1a90434bff75	01a21b0d-ee79-737c-9a8b-c0142cc8c156	2026-11-27 03:30:26.326846+00
01a21b0d-e9fe-792b-8cea-7eb3832132a7	01a21b0d-ee7a-7431-9d29-c597ec5f0710	01a21b0d-eaad-7fca-bde0-1a90434bff75	01a21b0d-ee7a-73c2-8daf-a9d2c5b9e306	2026-11-27 03:30:26.326846+00
\.
COPY audit.chains (organization_id, month, seal, entries, head) FROM stdin;
01a21b0d-e9fe-792b-8cea-7eb3832132a7	2026-11-01	1	18	\\x673c34773e512e13587a570a1e3c0f1be2974765ce5f90871983210195d23fe2
\.
COPY audit.changes (id, occurred_at, organization_id, subject_id, relation, row_id, command, columns, before, after, role, login, application_id, user_id, grant_id, request_id, server_request_id, salt, commitment) FROM stdin;
1	2026-11-27 03:30:26.481748+00	01a21b0d-e9fe-792b-8cea-7eb3832132a7	01a21b0d-e9fe-792b-8cea-7eb3832132a7	app_hidden.organizations	01a21b0d-e9fe-792b-8cea-7eb3832132a7	insert	{id,name}	\N	{"id": "01a21b0d-e9fe-792b-8cea-7eb3832132a7", "name": "Acme"}	owner	owner	\N	\N	\N	\N	\N	9c626542-35cb-4316-ac8b-f67a2db67686	\N
2	2026-11-27 03:30:26.741934+00	01a21b0d-e9fe-792b-8cea-7eb3832132a7	01a21b0d-eb10-715c-b8d6-3ad3ee34d6ce	oauth.applications	01a21b0d-eb10-715c-b8d6-3ad3ee34d6ce	insert	{id,name,scopes,client_id,confidential,redirect_uris,organization_id}	\N	{"id": "01a21b0d-eb10-715c-b8d6-3ad3ee34d6ce", "name": "Back", "scopes": ["app", "basic"], "client_id": "acme-backend", "confidential": true, "redirect_uris": [], "organization_id": "01a21b0d-e9fe-792b-8cea-7eb3832132a7"}	owner	owner	\N	\N	\N	\N	\N	611e6cdf-4257-4deb-807d-9d73b6dbda52	\N
3	2026-11-27 03:30:26.742422+00	01a21b0d-e9fe-792b-8cea-7eb3832132a7	01a21b0d-eb23-7789-a3f9-d79394524a57	oauth.applications	01a21b0d-eb23-7789-a3f9-d79394524a57	insert	{id,name,scopes,client_id,confidential,redirect_uris,organization_id,mobile_app_authentication_type}	\N	{"id": "01a21b0d-eb23-7789-a3f9-d79394524a57", "name": "Mobile", "scopes": ["me"], "client_id": "acme-mobile", "confidential": false, "redirect_uris": ["http://127.0.0.1/callback"], "organization_id": "01a21b0d-e9fe-792b-8cea-7eb3832132a7", "mobile_app_authentication_type": "password"}	owner	owner	\N	\N	\N	\N	\N	33755975-0aa6-4223-ad5d-5bf9258c51f1	\N
4	2026-11-27 03:30:26.777189+00	01a21b0d-e9fe-792b-8cea-7eb3832132a7	01a21b0d-eb10-715c-b8d6-3ad3ee34d6ce	oauth.application_secrets	01a21b0d-eb10-715c-b8d6-3ad3ee34d6ce	insert	{created_at,secret_hash,application_id,organization_id}	\N	{"created_at": "2026-11-27T03:30:26.767589+00:00", "application_id": "01a21b0d-eb10-715c-b8d6-3ad3ee34d6ce", "organization_id": "01a21b0d-e9fe-792b-8cea-7eb3832132a7"}	owner	owner	\N	\N	\N	\N	\N	dc054ecc-1585-4b5c-a438-846f96a331a1	\N
5	2026-11-27 03:30:27.10274+00	01a21b0d-e9fe-792b-8cea-7eb3832132a7	01a21b0d-ebd5-7e62-ba5c-f87e9c673fd8	app_public.units	01a21b0d-ebd5-7e62-ba5c-f87e9c673fd8	insert	{id,name,organization_id,external_identifier}	\N	{"id": "01a21b0d-ebd5-7e62-ba5c-f87e9c673fd8", "name": "Headquarters", "organization_id": "01a21b0d-e9fe-792b-8cea-7eb3832132a7", "external_identifier": "hq"}	owner	owner	\N	\N	\N	\N	\N	fb83e151-0dd5-4775-9854-2dc2917253d6	\N
6	2026-11-27 03:30:27.169928+00	01a21b0d-e9fe-792b-8cea-7eb3832132a7	01a21b0d-ebd6-73c2-b262-f3946557e6b2	app_public.units	01a21b0d-ebd6-73c2-b262-f3946557e6b2	insert	{id,name,parent_id,organization_id,external_identifier}	\N	{"id": "01a21b0d-ebd6-73c2-b262-f3946557e6b2", "name": "Floor 1", "parent_id": "01a21b0d-ebd5-7e62-ba5c-f87e9c673fd8", "organization_id": "01a21b0d-e9fe-792b-8cea-7eb3832132a7", "external_identifier": "hq-1"}	owner	owner	\N	\N	\N	\N	\N	9401fc64-0e7d-418e-8814-799ce18b05f3	\N
7	2026-11-27 03:30:27.423035+00	01a21b0d-e9fe-792b-8cea-7eb3832132a7	01a21b0d-eaad-7fca-bde0-1a90434bff75	app_public.users	01a21b0d-eaad-7fca-bde0-1a90434bff75	insert	{id,email,locale,full_name,time_zone,organization_id,external_identifier,external_authentication_token_hash,external_authentication_token_ciphertext}	\N	{"id": "01a21b0d-eaad-7fca-bde0-1a90434bff75", "email": "ada@acme.test", "locale": "en", "full_name": "Ada Lovelace", "time_zone": "Berlin", "organization_id": "01a21b0d-e9fe-792b-8cea-7eb3832132a7", "external_identifier": "u-1"}	owner	owner	\N	\N	\N	\N	\N	cd6df9eb-4cc5-4225-babb-160d7c6a7d48	\N
8	2026-11-27 03:30:27.521989+00	01a21b0d-e9fe-792b-8cea-7eb3832132a7	01a21b0d-eaad-7fca-bde0-1a90434bff75	app_hidden.unit_access	01a21b0d-ebd5-7e62-ba5c-f87e9c673fd8	insert	{unit_id,user_id,organization_id}	\N	{"unit_id": "01a21b0d-ebd5-7e62-ba5c-f87e9c673fd8", "user_id": "01a21b0d-eaad-7fca-bde0-1a90434bff75", "organization_id": "01a21b0d-e9fe-792b-8cea-7eb3832132a7"}	owner	owner	\N	\N	\N	\N	\N	31a55507-faad-4bae-8d8e-9c87f8f71274	\N
9	2026-11-27 03:30:27.632603+00	01a21b0d-e9fe-792b-8cea-7eb3832132a7	01a21b0d-eaad-7fca-bde0-1a90434bff75	app_public.card_assignments	01a21b0d-ee79-74dd-9580-302444ecfe3f	insert	{id,card_id,user_id,organization_id}	\N	{"id": "01a21b0d-ee79-74dd-9580-302444ecfe3f", "card_id": "01a21b0d-ee79-737c-9a8b-c0142cc8c156", "user_id": "01a21b0d-eaad-7fca-bde0-1a90434bff75", "organization_id": "01a21b0d-e9fe-792b-8cea-7eb3832132a7"}	owner	owner	\N	\N	\N	\N	\N	907777cc-d9a7-40d6-9bc3-302cbfa1722c	\N
10	2026-11-27 03:30:27.632934+00	01a21b0d-e9fe-792b-8cea-7eb3832132a7	01a21b0d-eaad-7fca-bde0-1a90434bff75	app_public.card_assignments	01a21b0d-ee7a-7431-9d29-c597ec5f0710	insert	{id,card_id,user_id,organization_id}	\N	{"id": "01a21b0d-ee7a-7431-9d29-c597ec5f0710", "card_id": "01a21b0d-ee7a-73c2-8daf-a9d2c5b9e306", "user_id": "01a21b0d-eaad-7fca-bde0-1a90434bff75", "organization_id": "01a21b0d-e9fe-792b-8cea-7eb3832132a7"}	owner	owner	\N	\N	\N	\N	\N	de7c7e14-ec73-498f-ab38-27c3921d1027	\N
11	2026-11-27 03:30:27.676918+00	01a21b0d-e9fe-792b-8cea-7eb3832132a7	01a21b0d-ee79-737c-9a8b-c0142cc8c156	app_public.cards	01a21b0d-ee79-737c-9a8b-c0142cc8c156	insert	{id,name,type,nfc_identifier,organization_id}	\N	{"id": "01a21b0d-ee79-737c-9a8b-c0142cc8c156", "name": "Badge", "type": "NfcCard", "nfc_identifier": "04A224B2C13A80", "organization_id": "01a21b0d-e9fe-792b-8cea-7eb3832132a7"}	owner	owner	\N	\N	\N	\N	\N	f2015d1f-c0f3-4863-8ccc-9ca739523af4	\N
12	2026-11-27 03:30:27.677164+00	01a21b0d-e9fe-792b-8cea-7eb3832132a7	01a21b0d-ee7a-73c2-8daf-a9d2c5b9e306	app_public.cards	01a21b0d-ee7a-73c2-8daf-a9d2c5b9e306	insert	{id,name,type,major,minor,proximity_uuid,organization_id}	\N	{"id": "01a21b0d-ee7a-73c2-8daf-a9d2c5b9e306", "name": "Phone", "type": "BeaconCard", "major": 1, "minor": 65535, "proximity_uuid": "f7826da6-4fa2-4e98-8024-bc5b71e0893e", "organization_id": "01a21b0d-e9fe-792b-8cea-7eb3832132a7"}	owner	owner	\N	\N	\N	\N	\N	e37a222c-9b1c-44ce-b493-16487c41327f	\N
13	2026-11-27 03:30:29.032594+00	01a21b0d-e9fe-792b-8cea-7eb3832132a7	01a21b0d-eaad-7fca-bde0-1a90434bff75	oauth.credentials	01a21b0d-eaad-7fca-bde0-1a90434bff75	insert	{user_id,password_hash,organization_id}	\N	{"user_id": "01a21b0d-eaad-7fca-bde0-1a90434bff75", "organization_id": "01a21b0d-e9fe-792b-8cea-7eb3832132a7"}	owner	owner	\N	\N	\N	\N	\N	6cb39f83-d058-481b-b42a-33ff3a18cf9f	\N
14	2026-11-27 03:30:55.583368+00	01a21b0d-e9fe-792b-8cea-7eb3832132a7	01a21b0e-5bcd-7b78-a15a-d5b3f579d91e	oauth.grants	01a21b0e-5bcd-7b78-a15a-d5b3f579d91e	insert	{id,scopes,created_at,grant_type,application_id,organization_id,client_authentication}	\N	{"id": "01a21b0e-5bcd-7b78-a15a-d5b3f579d91e", "scopes": ["app"], "created_at": "2026-11-27T03:30:55.572385+00:00", "grant_type": "client_credentials", "application_id": "01a21b0d-eb10-715c-b8d6-3ad3ee34d6ce", "organization_id": "01a21b0d-e9fe-792b-8cea-7eb3832132a7", "client_authentication": "secret"}	graph_oauth	authenticator	\N	\N	\N	f2f0a133-3765-44fa-8956-3b422729e1d4	f2f0a133-3765-44fa-8956-3b422729e1d4	4381df66-3706-4b6e-8cc7-5f339890870b	\N
15	2026-11-27 03:30:57.147247+00	01a21b0d-e9fe-792b-8cea-7eb3832132a7	01a21b0d-eaad-7fca-bde0-1a90434bff75	oauth.grants	01a21b0e-61f3-7533-b9eb-dbdb57df312e	insert	{id,scopes,user_id,created_at,grant_type,application_id,organization_id,client_authentication}	\N	{"id": "01a21b0e-61f3-7533-b9eb-dbdb57df312e", "scopes": ["me"], "user_id": "01a21b0d-eaad-7fca-bde0-1a90434bff75", "created_at": "2026-11-27T03:30:57.139432+00:00", "grant_type": "password", "application_id": "01a21b0d-eb23-7789-a3f9-d79394524a57", "organization_id": "01a21b0d-e9fe-792b-8cea-7eb3832132a7", "client_authentication": "none"}	graph_oauth	authenticator	\N	\N	\N	4dbfcc00-f6a8-4f29-8edc-f4b4c8600c11	4dbfcc00-f6a8-4f29-8edc-f4b4c8600c11	db0467f7-af3d-4083-8550-7fce1e142d56	\N
16	2026-11-27 03:30:57.911255+00	01a21b0d-e9fe-792b-8cea-7eb3832132a7	01a21b0e-64d0-71e7-9b0b-907ef5061695	app_public.users	01a21b0e-64d0-71e7-9b0b-907ef5061695	insert	{id,email,locale,full_name,time_zone,organization_id}	\N	{"id": "01a21b0e-64d0-71e7-9b0b-907ef5061695", "email": "g@acme.test", "locale": "en", "full_name": "Grace", "time_zone": "UTC", "organization_id": "01a21b0d-e9fe-792b-8cea-7eb3832132a7"}	graph_app	authenticator	01a21b0d-eb10-715c-b8d6-3ad3ee34d6ce	\N	01a21b0e-5bcd-7b78-a15a-d5b3f579d91e	daca7ae2-5142-428f-85ab-4c93b42d9744	daca7ae2-5142-428f-85ab-4c93b42d9744	f43b32fc-688c-4b24-95b8-9a9b70e93add	\N
17	2026-11-27 03:30:58.039511+00	01a21b0d-e9fe-792b-8cea-7eb3832132a7	01a21b0e-6540-725d-8e5d-e5ffb0efff40	app_public.webhooks	01a21b0e-6540-725d-8e5d-e5ffb0efff40	insert	{id,url,enabled,organization_id,secret_ciphertext}	\N	{"id": "01a21b0e-6540-725d-8e5d-e5ffb0efff40", "url": "https://example.com/x", "enabled": true, "organization_id": "01a21b0d-e9fe-792b-8cea-7eb3832132a7"}	graph_app	authenticator	01a21b0d-eb10-715c-b8d6-3ad3ee34d6ce	\N	01a21b0e-5bcd-7b78-a15a-d5b3f579d91e	daca7ae2-5142-428f-85ab-4c93b42d9744	daca7ae2-5142-428f-85ab-4c93b42d9744	d084feb3-6c45-43fe-8129-a8636831a3f6	\N
18	2026-11-27 03:30:58.140266+00	01a21b0d-e9fe-792b-8cea-7eb3832132a7	01a21b0d-eaad-7fca-bde0-1a90434bff75	app_public.users	01a21b0d-eaad-7fca-bde0-1a90434bff75	update	{full_name}	{"full_name": "Ada Lovelace"}	{"full_name": "Ada L"}	graph_app	authenticator	01a21b0d-eb10-715c-b8d6-3ad3ee34d6ce	\N	01a21b0e-5bcd-7b78-a15a-d5b3f579d91e	daca7ae2-5142-428f-85ab-4c93b42d9744	daca7ae2-5142-428f-85ab-4c93b42d9744	46fb201a-1e86-4201-a01b-d6dd96f251ab	\N
\.
COPY audit.changes (id, occurred_at, organization_id, subject_id, relation, row_id, command, columns, before, after, role, login, application_id, user_id, grant_id, request_id, server_request_id, salt, commitment) FROM stdin;
\.
COPY audit.changes (id, occurred_at, organization_id, subject_id, relation, row_id, command, columns, before, after, role, login, application_id, user_id, grant_id, request_id, server_request_id, salt, commitment) FROM stdin;
\.
COPY audit.changes (id, occurred_at, organization_id, subject_id, relation, row_id, command, columns, before, after, role, login, application_id, user_id, grant_id, request_id, server_request_id, salt, commitment) FROM stdin;
\.
COPY audit.changes (id, occurred_at, organization_id, subject_id, relation, row_id, command, columns, before, after, role, login, application_id, user_id, grant_id, request_id, server_request_id, salt, commitment) FROM stdin;
\.
COPY audit.seals (number, sealed_at, retention, until, ids, pending, marks, head) FROM stdin;
1	2026-11-27 03:31:03.5606+00	400 days	18	{[1,19)}	{}	\\x35a2a0897907c8873ed36a3ddd99d0fe6ff90b9fa210d44c87dbc2ff0cd5db27543dd73778d493cac4d14cb3d4262d98f8f392f2cdd7b355b25005813b369c1a02c62a2866482570	\\xbc0838a7979417dbee27221217249e0f712a279fc93ba33b7dc5d3145ab3d5ee
\.
COPY oauth.grants (organization_id, id, application_id, user_id, grant_type, scopes, client_authentication, created_at, written_lsn) FROM stdin;
01a21b0d-e9fe-792b-8cea-7eb3832132a7	01a21b0e-5bcd-7b78-a15a-d5b3f579d91e	01a21b0d-eb10-715c-b8d6-3ad3ee34d6ce	\N	client_credentials	{app}	secret	2026-11-27 03:30:55.572385+00	\N
01a21b0d-e9fe-792b-8cea-7eb3832132a7	01a21b0e-61f3-7533-b9eb-dbdb57df312e	01a21b0d-eb23-7789-a3f9-d79394524a57	01a21b0d-eaad-7fca-bde0-1a90434bff75	password	{me}	none	2026-11-27 03:30:57.139432+00	\N
\.
COPY oauth.access_tokens (organization_id, token_hash, grant_id, scopes, created_at, expires_at) FROM stdin;
01a21b0d-e9fe-792b-8cea-7eb3832132a7	\\x9e589373314d82c78e7384bf995e18d8e066e04c0d8ca4383c47cf9033a1b524	01a21b0e-5bcd-7b78-a15a-d5b3f579d91e	{app}	2026-11-27 03:30:55.610185+00	2026-11-27 05:30:55.610185+00
01a21b0d-e9fe-792b-8cea-7eb3832132a7	\\x29a6fae83df6f1e3e0913835ab12ba0716242e78bdae8c075a888256e6832dc0	01a21b0e-61f3-7533-b9eb-dbdb57df312e	{me}	2026-11-27 03:30:57.155304+00	2026-11-27 05:30:57.155304+00
\.
COPY oauth.application_secrets (organization_id, application_id, secret_hash, created_at) FROM stdin;
01a21b0d-e9fe-792b-8cea-7eb3832132a7	01a21b0d-eb10-715c-b8d6-3ad3ee34d6ce	\\x1aba8d01c1fbf8ccb331ec3ccc5ff30fdc420933b1b5362c5aeffa742ca43a31	2026-11-27 03:30:26.767589+00
\.
COPY oauth.authorization_codes (organization_id, code_hash, application_id, user_id, scopes, redirect_uri, code_challenge, created_at, expires_at, used_at, grant_id) FROM stdin;
\.
COPY oauth.sessions (organization_id, sid, sess, expire) FROM stdin;
\.
COPY oauth.consents (organization_id, consent_hash, sid, request_hash, expires_at) FROM stdin;
\.
COPY oauth.credentials (organization_id, user_id, password_hash, disabled_at) FROM stdin;
01a21b0d-e9fe-792b-8cea-7eb3832132a7	01a21b0d-eaad-7fca-bde0-1a90434bff75	$argon2id$v=19$m=65536,t=3,p=4$K1N98ACT6JdcnCs8W/eavg$71iWcs8yzyJDyD1TyZU6ueDG/R1GthIusWeUGiyNn7A	\N
\.
COPY oauth.refresh_tokens (organization_id, token_hash, grant_id, scopes, created_at, expires_at, absolute_expires_at, used_at, successor_hash, reply_ciphertext) FROM stdin;
01a21b0d-e9fe-792b-8cea-7eb3832132a7	\\x4e6db3f9b3f23b805e52bf468d0834f5b95b67484ac609241d0f1662b8f4fcc9	01a21b0e-5bcd-7b78-a15a-d5b3f579d91e	{app}	2026-11-27 03:30:55.610185+00	2026-12-27 03:30:55.610185+00	2027-02-25 03:30:55.610185+00	\N	\N	\N
01a21b0d-e9fe-792b-8cea-7eb3832132a7	\\x617b46fe8614f39b318b6f04c8dd83e1fc9fc052b47f0e8db64c20f91293d881	01a21b0e-61f3-7533-b9eb-dbdb57df312e	{me}	2026-11-27 03:30:57.155304+00	2026-12-27 03:30:57.155304+00	2027-02-25 03:30:57.155304+00	\N	\N	\N
\.
COPY oauth.throttles (key, points, expire) FROM stdin;
requests_of_client:sBQ_jbeG_wJcsekXmw8R0IngOctc9igobiOS7aLVwwM	1	1795750315540
requests_of_address:sd_PB2Ty3K1i5ll2t-COnZNZ8o5aqUN-YKP9Lmfc_g8	2	1795750315445
requests_of_client:uBPojIO-p1qsBjxtDVlEfdGGnndRe4Bx1ojoOBi1E_g	1	1795750316165
failures_of_account_and_address:NkAgOyF7Y0Xk6ps2CVbqPrje_M-EoR5X75cBoGuCqNs	0	1795751156199
failures_of_account:9YrmW5VQqftwAVlOvLv_I6iNgohsg65m_x3hnaBdEi4	0	1795751156208
sign_ins_of_account_and_address:NkAgOyF7Y0Xk6ps2CVbqPrje_M-EoR5X75cBoGuCqNs	1	1803526257128
\.
SELECT pg_catalog.setval('audit.changes_id_seq', 18, true);
