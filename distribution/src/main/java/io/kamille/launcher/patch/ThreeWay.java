package io.kamille.launcher.patch;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Brings a change of one YAML text to another text, by their values. Stateless; any thread. */
public final class ThreeWay {

  /*
   * For each value: if one side changed it, that change counts. If both did, differently, nobody
   * can tell which is meant. A list is one value: what its third item is depends on who counts.
   */
  private static final Object ABSENT = new Object();

  private final List<String> conflicts = new ArrayList<>();

  private ThreeWay() {}

  /**
   * What came of it.
   *
   * @param text the other text with the change; of no meaning if there are conflicts
   * @param conflicts what both changed, as JSON pointers
   */
  public record Merged(String text, List<String> conflicts) {}

  /**
   * The text that runs, with what a draft changed. Its own lines and comments stay.
   *
   * @param base what the draft was made of
   */
  public static Merged of(String base, String draft, String running) {
    var merge = new ThreeWay();
    Object merged = merge.merged("", value(base), value(draft), value(running));
    return merge.conflicts.isEmpty() && merged instanceof Map
        ? new Merged(YamlEdit.toward(running, merged), List.of())
        : new Merged("", merge.conflicts.isEmpty() ? List.of("") : merge.conflicts);
  }

  private static @Nullable Object value(String text) {
    MarkedNode root = MarkedText.parse(text);
    return root == null ? null : root.value();
  }

  private @Nullable Object merged(
      String pointer, @Nullable Object base, @Nullable Object draft, @Nullable Object running) {
    if (Objects.equals(draft, base) || Objects.equals(draft, running)) {
      return running;
    }
    if (Objects.equals(running, base)) {
      return draft;
    }
    if (draft instanceof Map<?, ?> ours && running instanceof Map<?, ?> theirs) {
      return members(pointer, base instanceof Map<?, ?> map ? map : Map.of(), ours, theirs);
    }
    conflicts.add(pointer);
    return running;
  }

  private Map<String, @Nullable Object> members(
      String pointer, Map<?, ?> base, Map<?, ?> draft, Map<?, ?> running) {
    Set<Object> names = new LinkedHashSet<>(running.keySet());
    names.addAll(draft.keySet());
    Map<String, @Nullable Object> members = new LinkedHashMap<>();
    for (Object name : names) {
      String key = (String) name;
      Object value =
          merged(
              pointer + "/" + key.replace("~", "~0").replace("/", "~1"),
              member(base, key),
              member(draft, key),
              member(running, key));
      if (!ABSENT.equals(value)) {
        members.put(key, value);
      }
    }
    return members;
  }

  private static @Nullable Object member(Map<?, ?> map, String name) {
    return map.containsKey(name) ? map.get(name) : ABSENT;
  }
}
