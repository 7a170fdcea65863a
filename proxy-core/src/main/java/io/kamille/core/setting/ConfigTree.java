package io.kamille.core.setting;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Parse;
import org.snakeyaml.engine.v2.common.Anchor;
import org.snakeyaml.engine.v2.events.AliasEvent;
import org.snakeyaml.engine.v2.events.CollectionEndEvent;
import org.snakeyaml.engine.v2.events.CollectionStartEvent;
import org.snakeyaml.engine.v2.events.DocumentStartEvent;
import org.snakeyaml.engine.v2.events.Event;
import org.snakeyaml.engine.v2.events.MappingStartEvent;
import org.snakeyaml.engine.v2.events.NodeEvent;
import org.snakeyaml.engine.v2.events.ScalarEvent;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import org.snakeyaml.engine.v2.scanner.StreamReader;

/** Reads a configuration text into nodes that know where they stand. */
public final class ConfigTree {

  /*
   * We build the nodes from the parser's events, not with its composer: events need no recursion,
   * so a text of a million brackets meets our depth limit and not the end of the stack, and reading
   * ends at the first limit that is passed. Lines have a limit because the parser takes time in the
   * square of their length.
   *
   * An alias shares the node of its anchor. So that a short text cannot stand for a huge tree
   * ("billion laughs"), every alias counts with the whole size of what it stands for. An alias
   * inside its own anchor finds no anchor: the tree stays a tree.
   */

  /** The longest text we read, in bytes. */
  public static final int LIMIT_BYTES = 4 << 20;

  private static final int LIMIT_LINE = 65_536;
  private static final int LIMIT_DEPTH = 32;
  private static final int LIMIT_NODES = 200_000;

  private final String file;
  private final Problems problems;
  private final Deque<Collection> open = new ArrayDeque<>();
  private final Map<Anchor, Anchored> anchors = new HashMap<>();
  private @Nullable ConfigNode root;
  private boolean hasDocument;
  private boolean isRefused;

  private ConfigTree(String file, Problems problems) {
    this.file = file;
    this.problems = problems;
  }

  /**
   * The root of the text, or null when a problem was added that says why there is none. An empty
   * text is such a problem.
   */
  public static @Nullable ConfigNode parse(byte[] content, Problems problems) {
    return parse(content, "", problems);
  }

  /** The same of a file that is included, as positions name it. */
  public static @Nullable ConfigNode parse(byte[] content, String file, Problems problems) {
    var tree = new ConfigTree(file, problems);
    String text = tree.decode(content);
    if (text != null) {
      tree.build(text);
    }
    if (tree.isRefused) {
      return null;
    }
    if (tree.root == null
        || (tree.root instanceof ConfigNode.Scalar scalar && scalar.isNothing())) {
      tree.refuse(tree.at(1, 1), "an empty file", "settings");
      return null;
    }
    return tree.root;
  }

  private @Nullable String decode(byte[] content) {
    if (content.length > LIMIT_BYTES) {
      refuse(at(0, 0), "more than " + ByteSize.print(LIMIT_BYTES), "a smaller file");
      return null;
    }
    var decoder =
        StandardCharsets.UTF_8
            .newDecoder()
            .onMalformedInput(CodingErrorAction.REPORT)
            .onUnmappableCharacter(CodingErrorAction.REPORT);
    var octets = ByteBuffer.wrap(content);
    var characters = CharBuffer.allocate(content.length);
    boolean isUtf8 = !decoder.decode(octets, characters, true).isError();
    String text = withoutByteOrderMark(characters.flip().toString());
    if (!isUtf8) {
      int octet = octets.get() & 0xFF;
      refuse(endOf(text), String.format(Locale.ROOT, "octet 0x%02X", octet), "UTF-8 text");
      return null;
    }
    return isReadable(text) ? text : null;
  }

  private boolean isReadable(String text) {
    int line = 1;
    int column = 1;
    for (int at = 0; at < text.length(); at += Character.charCount(text.codePointAt(at))) {
      int character = text.codePointAt(at);
      if (!StreamReader.isPrintable(character)) {
        String name = String.format(Locale.ROOT, "control character U+%04X", character);
        refuse(at(line, column), name, "printable text");
        return false;
      }
      if (column > LIMIT_LINE) {
        refuse(at(line, 1), "more than " + LIMIT_LINE + " characters", "shorter lines");
        return false;
      }
      line += character == '\n' ? 1 : 0;
      column = character == '\n' ? 1 : column + 1;
    }
    return true;
  }

  private static String withoutByteOrderMark(String text) {
    return text.startsWith("\uFEFF") ? text.substring(1) : text;
  }

  private Position at(int line, int column) {
    return new Position(line, column, file);
  }

  private Position endOf(String text) {
    int line = 1 + (int) text.chars().filter(c -> c == '\n').count();
    int lineStart = text.lastIndexOf('\n') + 1;
    return at(line, 1 + text.codePointCount(lineStart, text.length()));
  }

  /**
   * What YAML makes of a text, whose length is the caller's to limit. It is read in one piece: the
   * reader fails if a character of two halves lies across two pieces.
   */
  private static Iterable<Event> events(String text) {
    int length = text.length() + 1;
    var settings = LoadSettings.builder().setBufferSize(length).setCodePointLimit(length).build();
    return new Parse(settings).parseString(text);
  }

  private void build(String text) {
    try {
      for (Event event : events(text)) {
        take(event);
        if (isRefused) {
          return;
        }
      }
    } catch (MarkedYamlEngineException e) {
      Position position = position(e.getProblemMark().or(e::getContextMark));
      YamlTrouble trouble = YamlTrouble.of(e);
      refuse(position, trouble.found(), trouble.expected());
    } catch (YamlEngineException e) {
      YamlTrouble trouble = YamlTrouble.of(e);
      refuse(at(1, 1), trouble.found(), trouble.expected());
    }
  }

  private void take(Event event) {
    Position position = position(event.getStartMark());
    switch (event) {
      case DocumentStartEvent start -> {
        if (hasDocument) {
          refuse(position, "a second document", "one document");
        }
        hasDocument = true;
      }
      case CollectionStartEvent start -> {
        refuseTag(start.getTag(), position);
        if (open.size() == LIMIT_DEPTH) {
          refuse(position, "more than " + LIMIT_DEPTH + " levels of nesting", "fewer");
        }
        open.push(new Collection(start, position));
      }
      case CollectionEndEvent end -> {
        Collection done = open.pop();
        add(done.node(), 1 + done.size, done.start);
      }
      case ScalarEvent scalar -> {
        refuseTag(scalar.getTag(), position);
        add(new ConfigNode.Scalar(scalar.getValue(), !scalar.isPlain(), position), 1, scalar);
      }
      case AliasEvent alias -> {
        Anchored anchored = anchors.get(alias.getAlias());
        if (anchored == null) {
          refuse(
              position,
              "the alias *" + alias.getAlias(),
              "an anchor of this name before it, or quotes around it");
        } else {
          add(anchored.node, anchored.size, alias);
        }
      }
      default -> {}
    }
  }

  private void refuseTag(Optional<String> tag, Position position) {
    tag.ifPresent(name -> refuse(position, "the tag " + Problems.quote(name), "no tags"));
  }

  private void add(ConfigNode node, long size, NodeEvent event) {
    if (!(event instanceof AliasEvent)) {
      event.getAnchor().ifPresent(anchor -> anchors.put(anchor, new Anchored(node, size)));
    }
    Collection parent = open.peek();
    if (parent == null) {
      root = node;
      return;
    }
    parent.size += size;
    if (parent.size > LIMIT_NODES) {
      refuse(node.position(), "more than " + LIMIT_NODES + " values and lists", "fewer");
    } else if (!parent.add(node)) {
      refuse(node.position(), node.kind() + " as a key", "a name");
    }
  }

  private void refuse(Position position, String found, String expected) {
    if (!isRefused) {
      problems.add(Problem.Mistake.SYNTAX, position, "", found, expected);
    }
    isRefused = true;
  }

  private Position position(Optional<Mark> mark) {
    return mark.map(m -> at(m.getLine() + 1, m.getColumn() + 1)).orElse(at(1, 1));
  }

  /** What an alias of this name stands for, and how many nodes that is. */
  private record Anchored(ConfigNode node, long size) {}

  /** A list or a mapping whose end has not come yet. */
  private static final class Collection {
    final CollectionStartEvent start;
    private final Position position;
    private final List<ConfigNode> items = new ArrayList<>();
    private final List<ConfigNode.Entry> entries = new ArrayList<>();
    private ConfigNode.@Nullable Scalar key;
    long size;

    Collection(CollectionStartEvent start, Position position) {
      this.start = start;
      this.position = position;
    }

    /** Adds the next node; false when it stands for a key and cannot be one. */
    boolean add(ConfigNode node) {
      if (!isMapping()) {
        items.add(node);
      } else if (key != null) {
        entries.add(new ConfigNode.Entry(key.text(), key.position(), node));
        key = null;
      } else if (node instanceof ConfigNode.Scalar scalar) {
        key = scalar;
      } else {
        return false;
      }
      return true;
    }

    ConfigNode node() {
      return isMapping()
          ? new ConfigNode.Mapping(List.copyOf(entries), position)
          : new ConfigNode.Sequence(List.copyOf(items), position);
    }

    private boolean isMapping() {
      return start instanceof MappingStartEvent;
    }
  }
}
