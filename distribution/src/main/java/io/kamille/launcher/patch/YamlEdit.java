package io.kamille.launcher.patch;

import static java.util.stream.Collectors.toSet;

import io.kamille.launcher.patch.MarkedNode.Alias;
import io.kamille.launcher.patch.MarkedNode.Entry;
import io.kamille.launcher.patch.MarkedNode.Mapping;
import io.kamille.launcher.patch.MarkedNode.Scalar;
import io.kamille.launcher.patch.MarkedNode.Sequence;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** One text on its way to other values. Confined to a thread. */
final class YamlEdit {

  /*
   * The smallest changes first: a scalar is replaced, lines are put in or taken out. What comes out
   * is read again. If it has other values than those wanted, which odd styles can cause, values
   * change as a whole, then the text is written anew: the values always come before the comments.
   */
  private record Change(int start, int end, String text) {}

  private final String text;
  private final boolean hasReturns;
  private final List<Change> changes = new ArrayList<>();

  private YamlEdit(String text) {
    this.text = text;
    this.hasReturns = text.contains("\r\n");
  }

  /** The text with those values. */
  static String toward(String text, Object wanted) {
    String expanded = expanded(text);
    for (String start : List.of(text, expanded)) {
      MarkedNode root = MarkedText.parse(start);
      if (root == null) {
        break;
      }
      var edit = new YamlEdit(start);
      edit.change(root, wanted);
      String result = edit.result();
      if (hasValue(result, wanted)) {
        return result;
      }
    }
    if (MarkedText.parse(expanded) instanceof Mapping root && wanted instanceof Map<?, ?> map) {
      var edit = new YamlEdit(expanded);
      edit.entries(root, map, false);
      String result = edit.result();
      if (hasValue(result, wanted)) {
        return result;
      }
    }
    return (YamlWriter.isNested(wanted) ? YamlWriter.block(wanted, 0) : YamlWriter.flow(wanted))
        + "\n";
  }

  private static boolean hasValue(String text, Object wanted) {
    MarkedNode root = MarkedText.parse(text);
    return root != null && Objects.equals(root.value(), wanted);
  }

  /** The text with what its aliases stand for. */
  private static String expanded(String text) {
    var edit = new YamlEdit(text);
    MarkedNode root = MarkedText.parse(text);
    if (root != null) {
      edit.expand(root);
    }
    return edit.result();
  }

  private void expand(MarkedNode node) {
    switch (node) {
      case Scalar scalar -> {}
      case Alias alias -> replace(alias, alias.value());
      case Sequence sequence -> sequence.items().forEach(this::expand);
      case Mapping mapping -> mapping.entries().forEach(entry -> expand(entry.value()));
    }
  }

  private String result() {
    StringBuilder result = new StringBuilder();
    int at = 0;
    changes.sort(Comparator.comparingInt(Change::start).thenComparingInt(Change::end));
    for (Change change : changes) {
      if (change.start < at) {
        return ""; // Two changes of one place: no YAML, so that the next way is tried.
      }
      result.append(text, at, change.start).append(change.text);
      at = change.end;
    }
    return result.append(text, at, text.length()).toString();
  }

  private void put(int start, int end, String replacement) {
    String lines = hasReturns ? replacement.replace("\n", "\r\n") : replacement;
    changes.add(new Change(start, end, lines));
  }

  private void change(MarkedNode node, @Nullable Object wanted) {
    if (Objects.equals(node.value(), wanted)) {
      return;
    }
    if (node instanceof Mapping mapping
        && wanted instanceof Map<?, ?> map
        && !mapping.isWhole()
        && mapping.entries().stream().anyMatch(entry -> map.containsKey(entry.name()))) {
      entries(mapping, map, true);
    } else if (node instanceof Sequence sequence
        && wanted instanceof List<?> list
        && !sequence.isWhole()
        && !sequence.items().isEmpty()
        && !list.isEmpty()) {
      items(sequence, list);
    } else {
      replace(node, wanted);
    }
  }

  /** In place of the node, on one line. */
  private void replace(MarkedNode node, @Nullable Object wanted) {
    String blank = node.start() == node.end() ? " " : "";
    put(node.start(), node.end(), blank + YamlWriter.flow(wanted));
  }

  private void entries(Mapping mapping, Map<?, ?> wanted, boolean isFine) {
    Entry lastKept = null;
    List<Entry> removed = new ArrayList<>();
    for (Entry entry : mapping.entries()) {
      if (wanted.containsKey(entry.name())) {
        lastKept = entry;
        Object value = wanted.get(entry.name());
        if (isFine && !isOtherBlock(mapping, entry, value)) {
          change(entry.value(), value);
        } else if (!Objects.equals(entry.value().value(), value)) {
          rewrite(mapping, entry, value);
        }
      } else {
        removed.add(entry);
      }
    }
    for (Entry entry : removed) {
      if (mapping.isFlow()) {
        removeFromFlow(entry.key().start(), entry.value().end(), mapping.end());
      } else {
        removeLines(entry.key().start(), entry.key().start(), entry.value().end());
      }
    }
    if (lastKept != null) {
      Set<String> names = mapping.entries().stream().map(Entry::name).collect(toSet());
      insert(mapping, lastKept, names, wanted);
    }
  }

  private void insert(Mapping mapping, Entry last, Set<String> names, Map<?, ?> wanted) {
    int column = column(last.key().start());
    for (Map.Entry<?, ?> entry : wanted.entrySet()) {
      if (names.contains(entry.getKey())) {
        continue;
      }
      String name = (String) Objects.requireNonNull(entry.getKey());
      if (mapping.isFlow()) {
        String flow = YamlWriter.flow(Collections.singletonMap(name, entry.getValue()));
        put(last.value().end(), last.value().end(), ", " + flow.substring(1, flow.length() - 1));
      } else {
        int end = lineEnd(last.value().end());
        put(end, end, "\n" + YamlWriter.entry(name, entry.getValue(), column));
      }
    }
  }

  /** Whether lines of one kind make place for another kind. */
  private boolean isOtherBlock(Mapping around, Entry entry, @Nullable Object wanted) {
    boolean isLines =
        (entry.value() instanceof Mapping mapping && !mapping.isFlow())
            || (entry.value() instanceof Sequence sequence && !sequence.isFlow());
    boolean isSame =
        (entry.value() instanceof Mapping && wanted instanceof Map<?, ?> map && !map.isEmpty())
            || (entry.value() instanceof Sequence
                && wanted instanceof List<?> list
                && !list.isEmpty());
    return !around.isFlow() && !isSame && (isLines || YamlWriter.isNested(wanted));
  }

  /** Puts another value behind the colon of a key. */
  private void rewrite(Mapping around, Entry entry, @Nullable Object wanted) {
    int colon = text.indexOf(':', entry.key().end()) + 1;
    boolean isLines =
        !around.isFlow()
            && YamlWriter.isNested(wanted)
            && text.substring(entry.value().end(), lineEnd(entry.value().end())).isBlank();
    put(
        colon,
        entry.value().end(),
        isLines
            ? "\n" + YamlWriter.block(wanted, column(entry.key().start()) + 2)
            : " " + YamlWriter.flow(wanted));
  }

  private void items(Sequence sequence, List<?> wanted) {
    List<MarkedNode> items = sequence.items();
    int least = Math.min(items.size(), wanted.size());
    int same = 0;
    while (same < least && isSame(items.get(same), wanted.get(same))) {
      same++;
    }
    int sameAtEnd = 0;
    while (sameAtEnd < least - same
        && isSame(
            items.get(items.size() - 1 - sameAtEnd), wanted.get(wanted.size() - 1 - sameAtEnd))) {
      sameAtEnd++;
    }
    int changed = Math.min(items.size(), wanted.size()) - same - sameAtEnd;
    for (int i = same; i < same + changed; i++) {
      change(items.get(i), wanted.get(i));
    }
    for (int i = same + changed; i < items.size() - sameAtEnd; i++) {
      MarkedNode item = items.get(i);
      if (sequence.isFlow()) {
        removeFromFlow(item.start(), item.end(), sequence.end());
      } else {
        removeLines(dash(item, column(sequence.start())), item.start(), item.end());
      }
    }
    insertItems(
        sequence, same + changed, wanted.subList(same + changed, wanted.size() - sameAtEnd));
  }

  private static boolean isSame(MarkedNode item, @Nullable Object wanted) {
    return Objects.equals(item.value(), wanted);
  }

  private void insertItems(Sequence sequence, int index, List<?> added) {
    List<MarkedNode> items = sequence.items();
    int column = column(sequence.start());
    for (Object item : added) {
      if (sequence.isFlow() && index > 0) {
        int end = items.get(index - 1).end();
        put(end, end, ", " + YamlWriter.flow(item));
      } else if (sequence.isFlow()) {
        int start = items.getFirst().start();
        put(start, start, YamlWriter.flow(item) + ", ");
      } else if (index > 0) {
        int end = lineEnd(items.get(index - 1).end());
        put(end, end, "\n" + " ".repeat(column) + YamlWriter.item(item, column));
      } else {
        int start = lineStart(dash(items.getFirst(), column));
        put(start, start, " ".repeat(column) + YamlWriter.item(item, column) + "\n");
      }
    }
  }

  /** Where the dash of an item stands, which may be on a line before it. */
  private int dash(MarkedNode item, int column) {
    for (int line = lineStart(item.start()); ; line = lineStart(line - 1)) {
      int at = line + column;
      if (line == 0 || (at < item.start() && text.charAt(at) == '-')) {
        return at;
      }
    }
  }

  /** Takes out the lines from {@code first} to {@code end}, or what is left beside others. */
  private void removeLines(int first, int start, int end) {
    int line = lineStart(first);
    if (text.substring(line, first).isBlank()) {
      put(line, Math.min(text.length(), lineEnd(end) + lineBreak(lineEnd(end))), "");
    } else {
      put(start, end, "");
    }
  }

  private int lineBreak(int at) {
    return text.startsWith("\r\n", at) ? 2 : 1;
  }

  /** Takes out one member with the comma behind it, or in front of the last one. */
  private void removeFromFlow(int start, int end, int behind) {
    int at = end;
    while (at < behind && Character.isWhitespace(text.charAt(at))) {
      at++;
    }
    if (at < behind && text.charAt(at) == ',') {
      at++;
      while (at < behind && text.charAt(at) == ' ') {
        at++;
      }
      put(start, at, "");
    } else {
      int before = start;
      while (before > 0 && Character.isWhitespace(text.charAt(before - 1))) {
        before--;
      }
      boolean isBehindComma = before > 0 && text.charAt(before - 1) == ',';
      boolean isFree = changes.stream().noneMatch(change -> change.end > start - 2);
      put(isBehindComma && isFree ? before - 1 : start, end, "");
    }
  }

  private int lineStart(int at) {
    return text.lastIndexOf('\n', at - 1) + 1;
  }

  private int lineEnd(int at) {
    int end = text.indexOf('\n', at);
    if (end < 0) {
      return text.length();
    }
    return end > at && text.charAt(end - 1) == '\r' ? end - 1 : end;
  }

  private int column(int at) {
    return at - lineStart(at);
  }
}
