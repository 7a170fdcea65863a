/** The servers compared: how each is configured and started so that all do the same job. */
@NullMarked
package io.kamille.perf.peer;

import org.jspecify.annotations.NullMarked;
