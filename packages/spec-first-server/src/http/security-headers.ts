import helmet from 'helmet';

/**
 * Helmet's headers for a service of JSON, without those that only concern pages, downloads in old browsers and Flash.
 * Nothing here asks a browser for HTTPS, which a service over plain HTTP cannot give.
 */
export const SECURITY_HEADERS = helmet({
  contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
  strictTransportSecurity: false,
  crossOriginOpenerPolicy: false,
  originAgentCluster: false,
  xDnsPrefetchControl: false,
  xDownloadOptions: false,
  xPermittedCrossDomainPolicies: false,
  xXssProtection: false,
});
