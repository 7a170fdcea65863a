package io.kamille.launcher.patch;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A node of a YAML text, with the place where it stands: from {@code start} to behind its last
 * character that is no comment.
 */
sealed interface MarkedNode {

  int start();

  int end();

  /** Its value: a text, null, a list or a map from texts. */
  @Nullable Object value();

  /** A scalar; null where nothing or a null is written. */
  record Scalar(int start, int end, @Nullable String value) implements MarkedNode {}

  /** Another node, by the name of its anchor. */
  record Alias(int start, int end, MarkedNode target) implements MarkedNode {
    @Override
    public @Nullable Object value() {
      return target.value();
    }
  }

  /**
   * A list.
   *
   * @param isWhole whether it changes as a whole only, because other nodes may be aliases of it
   */
  record Sequence(int start, int end, boolean isFlow, boolean isWhole, List<MarkedNode> items)
      implements MarkedNode {
    @Override
    public Object value() {
      List<@Nullable Object> values = new ArrayList<>();
      items.forEach(item -> values.add(item.value()));
      return values;
    }
  }

  /** A mapping; {@code isWhole} as that of a list. */
  record Mapping(int start, int end, boolean isFlow, boolean isWhole, List<Entry> entries)
      implements MarkedNode {
    @Override
    public Object value() {
      Map<String, @Nullable Object> values = new LinkedHashMap<>();
      entries.forEach(entry -> values.put(entry.name(), entry.value().value()));
      return values;
    }
  }

  /** A key and its value. */
  record Entry(Scalar key, MarkedNode value) {
    String name() {
      return key.value() == null ? "" : key.value();
    }
  }
}
