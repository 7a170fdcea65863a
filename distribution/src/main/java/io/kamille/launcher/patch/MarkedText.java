package io.kamille.launcher.patch;

import io.kamille.core.setting.ConfigTree;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.common.Anchor;
import org.snakeyaml.engine.v2.events.AliasEvent;
import org.snakeyaml.engine.v2.events.CollectionEndEvent;
import org.snakeyaml.engine.v2.events.CollectionStartEvent;
import org.snakeyaml.engine.v2.events.Event;
import org.snakeyaml.engine.v2.events.MappingStartEvent;
import org.snakeyaml.engine.v2.events.ScalarEvent;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;

/** Reads a text that is a valid configuration into nodes with their places. */
final class MarkedText {

  private final String text;
  private final Deque<Open> open = new ArrayDeque<>();
  private final Map<Anchor, MarkedNode> anchors = new HashMap<>();
  private @Nullable MarkedNode root;
  private int lastPoints;
  private int lastOffset;

  private MarkedText(String text) {
    this.text = text;
  }

  /** The root; null if the text is no YAML document of lists, mappings and scalars. */
  static @Nullable MarkedNode parse(String text) {
    var marked = new MarkedText(text);
    try {
      for (Event event : ConfigTree.events(text)) {
        marked.take(event);
      }
    } catch (YamlEngineException malformed) {
      return null;
    }
    return marked.root;
  }

  private void take(Event event) {
    switch (event) {
      case CollectionStartEvent start -> open.push(new Open(start, offset(start.getStartMark())));
      case CollectionEndEvent end -> {
        Open done = open.pop();
        add(done.node(offset(end.getEndMark())), done.event.getAnchor());
      }
      case ScalarEvent scalar -> add(scalar(scalar), scalar.getAnchor());
      case AliasEvent alias -> {
        MarkedNode target = anchors.get(alias.getAlias());
        if (target == null) {
          throw new YamlEngineException("an alias without anchor");
        }
        int start = offset(alias.getStartMark());
        add(new MarkedNode.Alias(start, offset(alias.getEndMark()), target), Optional.empty());
      }
      default -> {}
    }
  }

  private MarkedNode scalar(ScalarEvent event) {
    int start = offset(event.getStartMark());
    int end = offset(event.getEndMark());
    while (end > start && !event.isPlain() && Character.isWhitespace(text.charAt(end - 1))) {
      end--;
    }
    String value = event.getValue();
    boolean isNothing =
        event.isPlain() && (value.isEmpty() || value.equals("~") || value.equalsIgnoreCase("null"));
    return new MarkedNode.Scalar(start, end, isNothing ? null : value);
  }

  private void add(MarkedNode node, Optional<Anchor> anchor) {
    anchor.ifPresent(name -> anchors.put(name, node));
    Open parent = open.peek();
    if (parent == null) {
      root = node;
    } else {
      parent.nodes.add(node);
    }
  }

  /** Marks count code points; we count characters, from the last mark on. */
  private int offset(Optional<Mark> mark) {
    int points = mark.orElseThrow().getIndex();
    lastOffset = text.offsetByCodePoints(lastOffset, points - lastPoints);
    lastPoints = points;
    return lastOffset;
  }

  /** A list or mapping whose end has not come yet. */
  private static final class Open {
    private final CollectionStartEvent event;
    private final int start;
    private final List<MarkedNode> nodes = new ArrayList<>();

    Open(CollectionStartEvent event, int start) {
      this.event = event;
      this.start = start;
    }

    /** Behind a block stand comments and blank lines: it ends with its last node. */
    MarkedNode node(int flowEnd) {
      int end = event.isFlow() || nodes.isEmpty() ? flowEnd : nodes.getLast().end();
      boolean isWhole = event.getAnchor().isPresent();
      if (!(event instanceof MappingStartEvent)) {
        return new MarkedNode.Sequence(start, end, event.isFlow(), isWhole, List.copyOf(nodes));
      }
      List<MarkedNode.Entry> entries = new ArrayList<>();
      for (int i = 0; i < nodes.size(); i += 2) {
        if (!(nodes.get(i) instanceof MarkedNode.Scalar key)) {
          throw new YamlEngineException("a key that is no scalar");
        }
        entries.add(new MarkedNode.Entry(key, nodes.get(i + 1)));
      }
      return new MarkedNode.Mapping(start, end, event.isFlow(), isWhole, List.copyOf(entries));
    }
  }
}
