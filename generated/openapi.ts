/**
 * Generated from the OpenAPI document by "npm run generate". Do not edit: change the document and run it again.
 */

import type { HandlersOf, ReplyOf, RequestOf } from 'spec-first-server';

export type { Readable, Writable } from 'spec-first-server';

/** An integer. A number if it is safe, a bigint beyond ±(2^53−1). */
export type Int64 = number | bigint;

export interface paths {
    "/plants": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Add a plant
         * @description Keeps the plant under its `id` and answers once it is on disk.
         *
         *     | what is sent | answer |
         *     |---|---|
         *     | a new id | 200, the plant is kept |
         *     | a known id with the same name and tag | 200, nothing changes |
         *     | a known id with other content | 400 with `error` 409, the stored plant stays as it was |
         *     | a body that does not fit `NewPlant` | 400 with `error` 400, every violation named |
         *
         *     Properties that `NewPlant` does not name are accepted and not kept.
         */
        post: operations["createPlant"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description A plant. */
        Plant: {
            /**
             * @description What the plant is called.
             * @example Monstera deliciosa
             */
            name: string;
            /**
             * @description A word of your own to tell kinds of plants apart. Leaving it out and leaving it empty differ.
             * @example climber
             */
            tag?: string;
        };
        /** @description A plant together with the id to keep it under. */
        NewPlant: components["schemas"]["Plant"] & {
            /**
             * Format: int64
             * @description Identifies the plant, from −2⁶³ to 2⁶³−1. The client chooses it.
             * @example 1
             */
            id: Int64;
        };
        /** @description What went wrong. */
        Error: {
            /**
             * Format: int32
             * @description The HTTP status code that says most precisely what failed. It can be more precise than the status of the answer, as 409 is for an id that is taken.
             * @example 400
             */
            error: number;
            /**
             * @description What went wrong, in words for a person. A body's violations are named by their JSON paths.
             * @example /body/id must be integer
             */
            message: string;
        };
    };
    responses: {
        /** @description The plant is on disk. */
        PlantKept: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Plant"];
            };
        };
        /** @description The body is not a plant that can be kept, or its id belongs to another plant. Nothing was changed. */
        PlantRefused: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /**
         * @description Any other failure, under the HTTP status code that `error` repeats: 401 without a valid token, 404 and 405 for
         *     an unknown path or method, 413 for a body that is too large, 415 for another media type, charset or encoding,
         *     503 while the store cannot be reached, 500 for a fault of the service itself.
         */
        Failure: {
            headers: {
                /** @description With 401, the scheme that is asked for and what was wrong with the token (RFC 6750, section 3). */
                "WWW-Authenticate"?: string;
                /** @description With 405, the methods that the path knows (RFC 9110, section 10.2.1). */
                Allow?: string;
                /** @description With 503, the seconds to wait before sending the request again (RFC 9110, section 10.2.3). */
                "Retry-After"?: number;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    createPlant: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description The plant to keep, with the id to keep it under. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewPlant"];
            };
        };
        responses: {
            200: components["responses"]["PlantKept"];
            400: components["responses"]["PlantRefused"];
            default: components["responses"]["Failure"];
        };
    };
}
/** Whether an operation needs credentials. */
export interface security {
    createPlant: "required";
}
/** Optional parameters that are always present, because they have a default. */
export interface defaults {
}
interface contract {
    operations: operations;
    security: security;
    defaults: defaults;
}
/** A handler for each operation. */
export type Handlers = HandlersOf<contract>;
/** The validated request that a handler gets. */
export type RequestTo<Id extends keyof operations> = RequestOf<contract, Id>;
/** The reply that a handler returns: one of the declared responses. */
export type ReplyTo<Id extends keyof operations> = ReplyOf<operations[Id]>;
