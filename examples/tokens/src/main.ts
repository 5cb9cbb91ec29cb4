import { serve } from 'spec-first-server';
import { handlers } from './handlers.ts';

// The variables JWKS_URL, JWT_ISSUER and JWT_AUDIENCE configure the signed tokens.
await serve({ open: { handlers } });
