/**
 * A request on its way to origins: attempts, retries, second origins, mirrors, buffered uploads.
 */
@NullMarked
package io.kamille.core.origin.send;

import org.jspecify.annotations.NullMarked;
