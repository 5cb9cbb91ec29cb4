/**
 * Generated from the OpenAPI document by "npm run generate". Do not edit: change the document and
 * run it again.
 */

import type { AroundOf, HandlersOf, ReplyOf, RequestOf, Verifiers } from 'spec-first-server';

/** An integer. A number if it is safe, a bigint beyond ±(2^53−1). */
export type Int64 = number | bigint;

/**
 * A plant.
 * @see openapi.yaml:154
 */
export type Plant = {
    /**
     * The name of the plant.
     * @example Monstera deliciosa
     */
    name: string;
    /**
     * A text of your choice. A plant without a tag differs from a plant with an empty tag.
     * @example climber
     */
    tag?: string;
};
/**
 * A plant with its id.
 * @see openapi.yaml:167
 */
export type NewPlant = {
    /**
     * The name of the plant.
     * @example Monstera deliciosa
     */
    name: string;
    /**
     * A text of your choice. A plant without a tag differs from a plant with an empty tag.
     * @example climber
     */
    tag?: string;
    /**
     * An integer from −2⁶³ to 2⁶³−1, chosen by the client. Several plants may have the same id.
     * @format int64
     * @example 1
     */
    id: Int64;
};
/**
 * An error.
 * @see openapi.yaml:179
 */
export type Error = {
    /**
     * The HTTP status code.
     * @format int32
     * @example 400
     */
    error: number;
    /**
     * The reason, for people. Lists violations of a body with their JSON Pointers.
     * @example /body/id must be integer
     */
    message: string;
};
export interface paths {
    "/plants": {
        post: operations["createPlant"];
    };
}
export interface components {
    schemas: {
        Plant: Plant;
        NewPlant: NewPlant;
        Error: Error;
    };
}
export interface operations {
    /**
     * Add a plant
     *
     * Stores the plant, and responds when it is on disk.
     *
     * | request body | response |
     * |---|---|
     * | a valid plant | 200, the plant is on disk |
     * | the same id, name and tag again | 200, the plant is stored once |
     * | the same id with another name or tag | 200, both plants are stored |
     * | a body that does not match `NewPlant` | 400, the message lists the violations |
     *
     * Properties that `NewPlant` does not declare are accepted, but not stored.
     * @see openapi.yaml:33
     */
    createPlant: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The plant to store, with its id. */
        requestBody: {
            content: {
                "application/json": NewPlant;
            };
        };
        responses: {
            /** The plant is on disk. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Plant;
                };
            };
            /** The body is not a valid plant. Nothing was stored. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Error;
                };
            };
            /**
             * Any other error. The status is 401 without a valid token, 404 or 405 for an unknown path or method, 413 for a
             * body that is too large, 415 for another media type, charset or encoding, 503 while the store cannot be reached,
             * and 500 for an error in the service itself. Other statuses are rare, such as 408 for a request that arrives too
             * slowly.
             */
            default: {
                headers: {
                    /**
                     * With 401, the required scheme, and the fault of the token (RFC 6750, section 3).
                     * @example Bearer error="invalid_token"
                     */
                    "WWW-Authenticate"?: string;
                    /**
                     * With 405, the methods of the path (RFC 9110, section 10.2.1).
                     * @example POST
                     */
                    Allow?: string;
                    /**
                     * With 503, the seconds to wait before the next attempt (RFC 9110, section 10.2.3).
                     * @format int32
                     * @minimum 0
                     * @example 1
                     */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Error;
                };
            };
        };
    };
}
export interface webhooks {}
/** The security schemes of each operation; undefined if it needs no credentials. */
export interface security {
    createPlant: "bearerAuth";
}
/** Optional parameters with a default. The server fills it in. */
export interface defaults {
}
interface contract {
    operations: operations;
    security: security;
    defaults: defaults;
}
/**
 * A handler for each operation. Handlers<typeof verifiers> sets the type of callers, and
 * Handlers<typeof verifiers, { tx: Transaction }> a member of requests that `around` adds.
 */
export type Handlers<V extends Verifiers = {}, M extends object = {}> =
    HandlersOf<contract, V, M>;
/** Middleware around all handlers. It adds the members M to requests: next({ tx }). */
export type Around<V extends Verifiers = {}, M extends object = {}> = AroundOf<contract, V, M>;
/** The validated request that a handler gets. */
export type RequestTo<
    Id extends keyof operations,
    V extends Verifiers = {},
    M extends object = {},
> = RequestOf<contract, Id, V, M>;
/** The reply that a handler returns: one of the declared responses. */
export type ReplyTo<Id extends keyof operations> = ReplyOf<contract['operations'][Id]>;
