/**
 * Generated from the OpenAPI document by "npm run generate". Do not edit: change the document and
 * run it again.
 */

import type { AroundOf, HandlersOf, ReplyOf, RequestOf, Verifiers } from 'spec-first-server';

/** An integer. A number if it is safe, a bigint beyond ±(2^53−1). */
export type Int64 = number | bigint;

/**
 * @see openapi.yaml:107
 */
export type NewRoom = {
    name: string;
    beds: number;
    /** @default [] */
    amenities?: ("wifi" | "desk" | "bath")[];
};
/**
 * @see openapi.yaml:114
 */
export type Room = NewRoom & WithId;
/**
 * @see openapi.yaml:116
 */
export type NewBooking = {
    /** Format: date */
    day: string;
    guest: string;
};
/**
 * @see openapi.yaml:122
 */
export type Booking = NewBooking & WithId & {
    roomId: number;
};
/**
 * @see openapi.yaml:127
 */
export type WithId = {
    id: number;
};
/**
 * @see openapi.yaml:107
 */
export type NewRoomWritable = {
    name: string;
    beds: number;
    /** @default [] */
    amenities: ("wifi" | "desk" | "bath")[];
};
/**
 * @see openapi.yaml:122
 */
export type BookingReply = NewBookingReply & WithId & {
    roomId: number;
};
/**
 * @see openapi.yaml:116
 */
export type NewBookingReply = {
    /** Format: date */
    day: string | Date;
    guest: string;
};
export interface components {
    schemas: {
        NewRoom: NewRoom;
        Room: Room;
        NewBooking: NewBooking;
        Booking: Booking;
        WithId: WithId;
        NewRoomWritable: NewRoomWritable;
        BookingReply: BookingReply;
        NewBookingReply: NewBookingReply;
    };
}
export interface operations {
    /**
     * @see openapi.yaml:6
     */
    listRooms: {
        parameters: {
            query?: {
                /** @description The minimum number of beds. */
                beds?: number;
                amenities?: ("wifi" | "desk" | "bath")[];
                /** @description The last id of the previous page. */
                after?: number;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of rooms, in the order of their ids. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Room[];
                };
            };
        };
    };
    /**
     * @see openapi.yaml:17
     */
    createRoom: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": NewRoomWritable;
            };
        };
        responses: {
            /** @description The room. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Room;
                };
            };
        };
    };
    /**
     * @see openapi.yaml:24
     */
    getRoom: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                roomId: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The room. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Room;
                };
            };
            /** @description The request failed. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": {
                        title?: string;
                    };
                };
            };
        };
    };
    /**
     * @see openapi.yaml:29
     */
    updateRoom: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                roomId: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": NewRoomWritable;
            };
        };
        responses: {
            /** @description The room. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Room;
                };
            };
            /** @description The request failed. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": {
                        title?: string;
                    };
                };
            };
        };
    };
    /**
     * @see openapi.yaml:35
     */
    deleteRoom: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                roomId: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The room is deleted. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The request failed. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": {
                        title?: string;
                    };
                };
            };
            /** @description The request failed. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": {
                        title?: string;
                    };
                };
            };
        };
    };
    /**
     * @see openapi.yaml:43
     */
    listBookings: {
        parameters: {
            query?: {
                /** @description The last day of the previous page. */
                after?: string;
                limit?: number;
            };
            header?: never;
            path: {
                roomId: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the bookings of the room, in the order of their days. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": BookingReply[];
                };
            };
            /** @description The request failed. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": {
                        title?: string;
                    };
                };
            };
        };
    };
    /**
     * @see openapi.yaml:53
     */
    createBooking: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                roomId: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": NewBooking;
            };
        };
        responses: {
            /** @description The booking. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": BookingReply;
                };
            };
            /** @description The request failed. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": {
                        title?: string;
                    };
                };
            };
            /** @description The request failed. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": {
                        title?: string;
                    };
                };
            };
        };
    };
    /**
     * @see openapi.yaml:63
     */
    getBooking: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                bookingId: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The booking. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": BookingReply;
                };
            };
            /** @description The request failed. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": {
                        title?: string;
                    };
                };
            };
        };
    };
    /**
     * @see openapi.yaml:68
     */
    moveBooking: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                bookingId: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": NewBooking;
            };
        };
        responses: {
            /** @description The booking. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": BookingReply;
                };
            };
            /** @description The request failed. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": {
                        title?: string;
                    };
                };
            };
            /** @description The request failed. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": {
                        title?: string;
                    };
                };
            };
        };
    };
    /**
     * @see openapi.yaml:75
     */
    cancelBooking: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                bookingId: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The booking is cancelled. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The request failed. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": {
                        title?: string;
                    };
                };
            };
        };
    };
}
export interface webhooks {
}
/** The security schemes of each operation; undefined if it needs no credentials. */
export interface security {
    listRooms: "bearerAuth";
    createRoom: "bearerAuth";
    getRoom: "bearerAuth";
    updateRoom: "bearerAuth";
    deleteRoom: "bearerAuth";
    listBookings: "bearerAuth";
    createBooking: "bearerAuth";
    getBooking: "bearerAuth";
    moveBooking: "bearerAuth";
    cancelBooking: "bearerAuth";
}
/** Optional parameters with a default. The server fills it in. */
export interface defaults {
    listRooms: {
        query: "beds" | "after" | "limit";
    };
    listBookings: {
        query: "limit";
    };
}
interface contract {
    operations: operations;
    security: security;
    defaults: defaults;
}
/** A handler for each operation. Handlers<typeof verifiers> sets the type of callers. */
export type Handlers<V extends Verifiers = {}> = HandlersOf<contract, V>;
/** Middleware around all handlers. */
export type Around<V extends Verifiers = {}> = AroundOf<contract, V>;
/** The validated request that a handler gets. */
export type RequestTo<Id extends keyof operations, V extends Verifiers = {}> =
    RequestOf<contract, Id, V>;
/** The reply that a handler returns: one of the declared responses. */
export type ReplyTo<Id extends keyof operations> = ReplyOf<operations[Id]>;
