package io.kamille.core.answer;

import io.kamille.core.answer.HeaderRules.FieldValue;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.exchange.PassingReply;
import io.kamille.core.exchange.Reply;
import io.kamille.core.http.Fields;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.http.StatusCode;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Gives stored responses what a route sets on responses now: they may have been stored under other
 * rules. Immutable; any thread.
 */
public final class StoredRules {

  /*
   * The rules stand behind the cache, too, because they decide how long a response is stored. So
   * nearly every stored response has been through them: then its lines are looked at and go on as
   * they are. A line that a rule of before has added stays until the response goes.
   */

  private enum Action {
    /** No line of that name. */
    REMOVE,
    /** That line alone. */
    SET,
    /** That line, too. */
    ADD,
    /** That line if there is none of its name. */
    DEFAULT
  }

  /**
   * What one name is to have. Its line is {@code Name: value CRLF}; none for {@link Action#REMOVE}.
   */
  @SuppressWarnings("ArrayRecordComponent") // nobody compares rules
  private record Rule(Action kind, byte[] name, byte[] line) {

    static Rule of(Action kind, String name, String value) {
      return new Rule(kind, Fields.octetsOf(name), Fields.octetsOf(name + ": " + value + "\r\n"));
    }
  }

  private final Rule[] plain;
  private final Rule[] secure;

  private StoredRules(HeaderRules headers, boolean addsSecurity) {
    List<Rule> rules = new ArrayList<>();
    headers.remove().forEach(name -> rules.add(Rule.of(Action.REMOVE, name, "")));
    addAll(Action.SET, headers.set(), rules);
    addAll(Action.ADD, headers.add(), rules);
    plain = with(rules, addsSecurity ? SecurityFields.all(false) : Map.of());
    secure = with(rules, addsSecurity ? SecurityFields.all(true) : Map.of());
  }

  private static void addAll(Action kind, Map<String, FieldValue> fields, List<Rule> rules) {
    fields.forEach((name, field) -> rules.add(Rule.of(kind, name, field.value())));
  }

  private static Rule[] with(List<Rule> rules, Map<String, String> defaults) {
    List<Rule> all = new ArrayList<>(rules);
    defaults.forEach((name, value) -> all.add(Rule.of(Action.DEFAULT, name, value)));
    return all.toArray(Rule[]::new);
  }

  /**
   * A station before a cache, or that cache if there is nothing to set.
   *
   * @param addsSecurity whether responses get {@link SecurityFields}
   */
  public static ExchangeHandler before(
      ExchangeHandler cache, HeaderRules headers, boolean addsSecurity) {
    if (headers.isEmpty() && !addsSecurity) {
      return cache;
    }
    var rules = new StoredRules(headers, addsSecurity);
    return exchange -> {
      Rule[] those = exchange.request().isSecure() ? rules.secure : rules.plain;
      cache.handle(exchange.behind(new RuledReply(exchange.reply(), those)));
    };
  }

  /** Confined to the exchange's loop. */
  private static final class RuledReply extends PassingReply {

    private final Rule[] rules;

    RuledReply(Reply reply, Rule[] rules) {
      super(reply);
      this.rules = rules;
    }

    @Override
    public boolean head(ResponseHead head, long contentLength, @Nullable ByteBuf whole) {
      return passHead(head, contentLength, whole);
    }

    @Override
    public void stored(
        int status, byte[] ownLines, int ownLength, ByteBuf linesAndContent, long contentLength) {
      Lines lines = new Lines(linesAndContent, rules, status);
      byte[] own = lines.withMissing(ownLines, ownLength);
      if (!lines.areToChange()) {
        super.stored(status, own, own.length, linesAndContent, contentLength);
        return;
      }
      ByteBuf kept = lines.kept();
      ByteBuf content = linesAndContent.readerIndex(lines.end());
      if (content.isReadable()) {
        super.storedHead(status, own, own.length, kept, contentLength);
        super.write(content);
        super.end(null);
      } else {
        content.release();
        super.stored(status, own, own.length, kept, contentLength);
      }
    }

    @Override
    public void storedHead(
        int status, byte[] ownLines, int ownLength, ByteBuf stored, long contentLength) {
      Lines lines = new Lines(stored, rules, status);
      byte[] own = lines.withMissing(ownLines, ownLength);
      ByteBuf next = stored;
      if (lines.areToChange()) {
        next = lines.kept();
        stored.release();
      }
      super.storedHead(status, own, own.length, next, contentLength);
    }
  }

  /** The lines of a stored head, held against the rules. */
  private static final class Lines {

    private final ByteBuf stored;
    private final Rule[] rules;
    private final boolean isUpdate;

    /** For each rule: lines of its name, and lines that are its own. */
    private final int[] ofName;

    private final int[] own;
    private final int end;

    Lines(ByteBuf stored, Rule[] rules, int status) {
      this.stored = stored;
      this.rules = rules;
      this.isUpdate = status == StatusCode.NOT_MODIFIED;
      this.ofName = new int[rules.length];
      this.own = new int[rules.length];
      int at = stored.readerIndex();
      int next = behind(at);
      while (next - at > 2) {
        for (int i = 0; i < rules.length; i++) {
          if (isNamed(at, next, rules[i].name())) {
            ofName[i]++;
            own[i] += isLine(at, next, rules[i].line()) ? 1 : 0;
          }
        }
        at = next;
        next = behind(at);
      }
      end = next;
    }

    /** Where the line that begins there has ended. */
    private int behind(int at) {
      return stored.indexOf(at, stored.writerIndex(), (byte) '\n') + 1;
    }

    private boolean isNamed(int at, int next, byte[] name) {
      if (next - at <= name.length || stored.getByte(at + name.length) != ':') {
        return false;
      }
      for (int i = 0; i < name.length; i++) {
        if (lower(stored.getByte(at + i)) != lower(name[i])) {
          return false;
        }
      }
      return true;
    }

    private static int lower(byte octet) {
      return octet >= 'A' && octet <= 'Z' ? octet + ('a' - 'A') : octet;
    }

    /** But for the case of the name. */
    private boolean isLine(int at, int next, byte[] line) {
      if (next - at != line.length) {
        return false;
      }
      int value = stored.indexOf(at, next, (byte) ':') - at;
      for (int i = value; i < line.length; i++) {
        if (stored.getByte(at + i) != line[i]) {
          return false;
        }
      }
      return true;
    }

    /** Behind the empty line. */
    int end() {
      return end;
    }

    /** Whether a line is there that is not to be. */
    boolean areToChange() {
      for (int i = 0; i < rules.length; i++) {
        if (isToGo(i)) {
          return true;
        }
      }
      return false;
    }

    private boolean isToGo(int rule) {
      return switch (rules[rule].kind()) {
        case REMOVE -> ofName[rule] > 0;
        case SET -> ofName[rule] > 1 || ofName[rule] > own[rule];
        case ADD, DEFAULT -> false;
      };
    }

    private boolean isMissing(int rule) {
      return switch (rules[rule].kind()) {
        case REMOVE -> false;
        case SET -> isToGo(rule) || own[rule] == 0;
        case ADD -> own[rule] == 0 && !(isUpdate && ofName[rule] == 0);
        case DEFAULT -> ofName[rule] == 0 && !isUpdate;
      };
    }

    /** These with the lines that are missing. */
    byte[] withMissing(byte[] lines, int length) {
      int size = length;
      for (int i = 0; i < rules.length; i++) {
        size += isMissing(i) ? rules[i].line().length : 0;
      }
      byte[] all = Arrays.copyOf(lines, size);
      int at = length;
      for (int i = 0; i < rules.length; i++) {
        if (isMissing(i)) {
          System.arraycopy(rules[i].line(), 0, all, at, rules[i].line().length);
          at += rules[i].line().length;
        }
      }
      return all;
    }

    /** The lines that stay, and the empty one. The caller owns them. */
    ByteBuf kept() {
      byte[] kept = new byte[end - stored.readerIndex()];
      int length = 0;
      int at = stored.readerIndex();
      while (at < end) {
        int next = behind(at);
        if (!isToGo(at, next)) {
          stored.getBytes(at, kept, length, next - at);
          length += next - at;
        }
        at = next;
      }
      return Unpooled.wrappedBuffer(kept, 0, length);
    }

    private boolean isToGo(int at, int next) {
      for (int i = 0; i < rules.length; i++) {
        if (isToGo(i) && isNamed(at, next, rules[i].name())) {
          return true;
        }
      }
      return false;
    }
  }
}
