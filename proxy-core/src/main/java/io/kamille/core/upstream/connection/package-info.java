/** The way to an origin, whatever the version of HTTP: who asks, what is sent, what is awaited. */
@NullMarked
package io.kamille.core.upstream.connection;

import org.jspecify.annotations.NullMarked;
