/**
 * HTTP/2 as both sides speak it (RFC 9113): field sections, windows, turns, budgets. Netty reads
 * frames and HPACK; connection and streams are here.
 */
@NullMarked
package io.kamille.core.h2;

import org.jspecify.annotations.NullMarked;
