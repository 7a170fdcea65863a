/** Where upstreams have origins from besides their configuration. */
@NullMarked
package io.kamille.core.upstream.discovery;

import org.jspecify.annotations.NullMarked;
