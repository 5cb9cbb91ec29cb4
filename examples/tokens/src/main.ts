import { serve } from 'spec-first-server';
import { handlers } from './handlers.ts';

// JWKS_URL, JWT_ISSUER and JWT_AUDIENCE say which signed tokens are accepted.
await serve({ open: () => ({ handlers }) });
