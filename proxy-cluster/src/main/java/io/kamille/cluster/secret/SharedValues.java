package io.kamille.cluster.secret;

import java.io.IOException;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Small values that all nodes of a cluster have, by name. Any thread. */
public interface SharedValues {

  /** Whether this node does what one alone does for all. */
  boolean leads();

  /** The value of that name; null if there is none. */
  byte @Nullable [] get(String name);

  /** All whose names begin so. */
  Map<String, byte[]> under(String prefix);

  /**
   * Puts a value in the place of the one of that name; waits for all nodes.
   *
   * @param content null for none
   * @return all nodes, and whether each has it by now
   * @throws IOException with one sentence, if it is not known to be in the log. To repeat it is
   *     safe
   */
  Map<String, Boolean> put(String name, byte @Nullable [] content) throws IOException;
}
