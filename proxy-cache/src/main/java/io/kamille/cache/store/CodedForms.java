package io.kamille.cache.store;

import io.kamille.cache.rules.CompressionRules;
import io.kamille.core.http.ContentCoding;
import io.kamille.core.http.Fields;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/**
 * A stored response's content under content codings, each with a head of its own (RFC 9110 §8.4).
 *
 * <p>Immutable; any thread. Each form begins with one lease, its maker's, which goes to whoever
 * keeps the forms: the index.
 */
public final class CodedForms {

  /**
   * One coded form.
   *
   * @param response with the coding in its head
   */
  public record Form(ContentCoding coding, StoredResponse response) {}

  /** Of a response that is not to be coded. */
  public static final CodedForms NEVER = new CodedForms(List.of());

  /** Of a response that is to be coded and has not been yet. */
  public static final CodedForms NOT_YET = new CodedForms(List.of());

  private final Form[] forms;

  private CodedForms(List<Form> forms) {
    this.forms = forms.toArray(Form[]::new);
    Arrays.sort(
        this.forms, Comparator.comparingLong(form -> form.response().linesAndContentLength()));
  }

  /** What coding a response has come to; perhaps nothing that is worth its memory. */
  public static CodedForms of(List<Form> forms) {
    return new CodedForms(forms);
  }

  /** Whether other requests than the one that brought the response may get another form of it. */
  public boolean isCodable() {
    return this != NEVER;
  }

  /** The forms, the shortest first. */
  public List<Form> all() {
    return List.of(forms);
  }

  /**
   * What to answer a request with: the form it likes best, of several the shortest, or the response
   * as it is (RFC 9110 §12.5.3). Takes no lease; makes no garbage but for a request with cache
   * directives.
   */
  StoredResponse choose(StoredResponse uncoded, Fields request) {
    Form chosen = CompressionRules.best(request, forms, Form::coding);
    return chosen == null ? uncoded : chosen.response();
  }

  /**
   * The forms of the response as softly purged at that time. Takes one lease on each; one that is
   * gone is left out.
   */
  CodedForms staleSince(long epochSeconds) {
    if (forms.length == 0) {
      return this;
    }
    List<Form> stale = new ArrayList<>();
    for (Form form : forms) {
      if (form.response().tryRetain()) {
        stale.add(new Form(form.coding(), form.response().staleSince(epochSeconds)));
      }
    }
    return new CodedForms(stale);
  }

  /** What they take in their tier. */
  public long occupiedBytes() {
    long sum = 0;
    for (Form form : forms) {
      sum += form.response().occupiedBytes();
    }
    return sum;
  }

  /** Ends one lease on each. */
  public void release() {
    for (Form form : forms) {
      form.response().release();
    }
  }
}
