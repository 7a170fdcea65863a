/** The machine under the measurement: processes, their CPU time and memory, and the kernel. */
@NullMarked
package io.kamille.perf.host;

import org.jspecify.annotations.NullMarked;
