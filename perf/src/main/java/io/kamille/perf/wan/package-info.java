/**
 * An emulator of network paths in user space: packets go from one network namespace to another
 * through two TUN devices, and are lost, queued and delayed in between.
 */
@NullMarked
package io.kamille.perf.wan;

import org.jspecify.annotations.NullMarked;
