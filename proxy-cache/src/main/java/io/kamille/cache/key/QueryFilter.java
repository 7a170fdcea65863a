package io.kamille.cache.key;

import io.kamille.core.http.Octets;
import io.kamille.core.http.RequestHead;
import java.util.Arrays;

/**
 * Gives requests the query that the rules of their route make of their own. Confined to its loop.
 */
public final class QueryFilter {

  /*
   * A query is read as a form writes it: parameters with & between them, each a name up to the
   * first =. What is left out is in neither the key nor the forwarded request, and what is sorted
   * is sorted in both: an origin never sees what the key does not cover, which is how caches are
   * poisoned. So how an origin reads its queries makes no difference to that; at worst it gets
   * another query than the client meant.
   *
   * Octets that stay do so as they came. Names are percent-decoded only to be compared. Sorting
   * keeps the order of parameters whose names an origin might take for the same one: decoded, and
   * in lower case. The time of the sort grows with the square of their number, hence the limit.
   */
  private static final int SORTED_LIMIT = 64;

  private int[] starts = new int[32];
  private int[] ends = new int[32];
  private byte[] name = new byte[64];
  private byte[] query = new byte[256];
  private int count;

  /** The request as the rules make it: itself where there are none, else a copy. Any thread. */
  public static RequestHead filtered(QueryRules rules, RequestHead request) {
    if (rules.isNone()) {
      return request;
    }
    RequestHead copy = request.copy();
    new QueryFilter().apply(rules, copy);
    return copy;
  }

  /** Makes no garbage, but for the room that longer queries than before need. */
  public void apply(QueryRules rules, RequestHead request) {
    int start = request.pathEnd();
    int end = request.queryEnd();
    if (start == end || rules.isNone()) {
      return;
    }
    byte[] octets = request.octets();
    boolean isChanged = select(rules, octets, start + 1, end);
    if (rules.sorts() && count <= SORTED_LIMIT) {
      isChanged |= sort(octets);
    }
    if (isChanged) {
      int length = join(octets, end - start);
      request.query(query, length);
    }
  }

  /** Notes the parameters that stay; answers whether any octet does not. */
  private boolean select(QueryRules rules, byte[] octets, int start, int end) {
    count = 0;
    boolean isChanged = start == end;
    int at = start;
    while (at < end || (at == end && octets[at - 1] == '&')) {
      int from = at;
      at = Octets.indexOf(octets, from, end, '&');
      if (at > from && rules.lets(name, decodeName(octets, from, at))) {
        note(from, at);
      } else {
        isChanged = true;
      }
      at++;
    }
    return isChanged;
  }

  private void note(int start, int end) {
    if (count == starts.length) {
      starts = Arrays.copyOf(starts, count * 2);
      ends = Arrays.copyOf(ends, count * 2);
    }
    starts[count] = start;
    ends[count++] = end;
  }

  private int decodeName(byte[] octets, int start, int end) {
    if (name.length < end - start) {
      name = new byte[end - start];
    }
    int length = 0;
    for (int at = start; at < end && octets[at] != '='; at += width(octets, at, end)) {
      name[length++] = decoded(octets, at, end);
    }
    return length;
  }

  /** By insertion, so that equal names stay in order; answers whether anything has moved. */
  private boolean sort(byte[] octets) {
    boolean isMoved = false;
    for (int i = 1; i < count; i++) {
      int start = starts[i];
      int end = ends[i];
      int to = i;
      while (to > 0 && compareNames(octets, starts[to - 1], ends[to - 1], start, end) > 0) {
        starts[to] = starts[to - 1];
        ends[to] = ends[to - 1];
        to--;
      }
      starts[to] = start;
      ends[to] = end;
      isMoved |= to != i;
    }
    return isMoved;
  }

  private static int compareNames(byte[] octets, int at, int end, int otherAt, int otherEnd) {
    int one = at;
    int other = otherAt;
    while (true) {
      boolean isOneOver = one == end || octets[one] == '=';
      boolean isOtherOver = other == otherEnd || octets[other] == '=';
      if (isOneOver || isOtherOver) {
        return Boolean.compare(isOtherOver, isOneOver);
      }
      int difference =
          (Octets.lower(decoded(octets, one, end)) & 0xff)
              - (Octets.lower(decoded(octets, other, otherEnd)) & 0xff);
      if (difference != 0) {
        return difference;
      }
      one += width(octets, one, end);
      other += width(octets, other, otherEnd);
    }
  }

  /** The octet that stands at {@code at}, encoded or not; a plus stands for a space. */
  static byte decoded(byte[] octets, int at, int end) {
    int escaped = octets[at] == '%' ? Octets.escaped(octets, at, end) : -1;
    return (byte) (escaped >= 0 ? escaped : octets[at] == '+' ? ' ' : octets[at]);
  }

  /** How many octets stand for one. */
  static int width(byte[] octets, int at, int end) {
    return octets[at] == '%' && Octets.escaped(octets, at, end) >= 0 ? 3 : 1;
  }

  /** Puts what stays together, with the mark; answers its length, 0 if nothing stays. */
  private int join(byte[] octets, int limit) {
    if (query.length < limit) {
      query = new byte[limit];
    }
    int length = 0;
    for (int i = 0; i < count; i++) {
      query[length++] = (byte) (i == 0 ? '?' : '&');
      System.arraycopy(octets, starts[i], query, length, ends[i] - starts[i]);
      length += ends[i] - starts[i];
    }
    return length;
  }
}
