/** How nodes ask one another for responses: who owns an object, the station, the entrance. */
@NullMarked
package io.kamille.cluster.peer;

import org.jspecify.annotations.NullMarked;
