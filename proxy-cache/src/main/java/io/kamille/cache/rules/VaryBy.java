package io.kamille.cache.rules;

import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.RemovedFields;
import io.kamille.core.http.RequestHead;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * By what an operator tells a route's responses apart, besides the fields that their {@code Vary}
 * names: by request fields as they are, or by a normal form of them. Immutable; any thread.
 */
public final class VaryBy {

  /*
   * The names of fields go into Vary itself as the response comes: everything that reads it, the
   * caches of clients among it, tells the responses apart as we do. A field that has a normal form
   * counts by that form alone, whoever named it, unless the operator names it as it is, too.
   */
  public static final VaryBy NONE = new VaryBy(List.of());

  private final Set<String> plain = new LinkedHashSet<>();
  private final List<NormalForm> forms = new ArrayList<>();
  private final Set<String> names = new LinkedHashSet<>();
  private final RemovedFields disguised;

  /**
   * Tells responses apart so.
   *
   * @param members names of request fields, in any case; {@code cookie:NAME}, {@code
   *     language:TAG,TAG}, {@code images} and {@code device}
   */
  public VaryBy(List<String> members) {
    for (String member : members) {
      NormalForm form = NormalForm.parse(member);
      if (form == null) {
        plain.add(member.toLowerCase(Locale.ROOT));
      } else {
        forms.add(form);
        names.addAll(form.fields());
      }
    }
    names.addAll(plain);
    disguised = new RemovedFields(names);
  }

  /** Whether responses can be told apart so: by no address of the client's. */
  public static boolean isPossible(String member) {
    return NormalForm.parse(member) != null || VaryField.canMatch(member.toLowerCase(Locale.ROOT));
  }

  /** Whether there is nothing that it makes of a request. */
  public boolean isEmpty() {
    return names.isEmpty();
  }

  /** Whether servers could read other values in a request than the normal forms do. */
  public boolean isUnclear(Fields request) {
    for (int i = 0; i < forms.size(); i++) {
      if (forms.get(i).isUnclear(request)) {
        return true;
      }
    }
    return false;
  }

  /** The forms that stand for a field, by its name in lower case; none if it counts as it is. */
  List<NormalForm> formsOf(String field) {
    return forms.isEmpty() || plain.contains(field)
        ? List.of()
        : forms.stream().filter(form -> form.fields().contains(field)).toList();
  }

  /**
   * Makes the request one that says no more than the normal forms of its fields. Fields whose names
   * differ from ours in the octets between words go no further, since origins may take them for
   * ours.
   */
  public void applyTo(Fields request) {
    for (int i = request.size() - 1; i >= 0; i--) {
      // Removing a name takes all its lines, so that i may point behind the last by now.
      if (i < request.size() && disguised.includes(request, i)) {
        String name = request.nameAt(i).toLowerCase(Locale.ROOT);
        if (!names.contains(name)) {
          request.remove(name);
        }
      }
    }
    forms.forEach(form -> form.applyTo(request));
  }

  /** The values of the normal forms for a request; null where it has none. */
  public Map<String, @Nullable String> values(RequestHead request) {
    Map<String, @Nullable String> values = new LinkedHashMap<>();
    forms.forEach(form -> values.put(form.name(), form.of(request.fields())));
    return values;
  }

  /** Adds to {@code Vary} what it does not name already. */
  public void addTo(Fields response) {
    if (names.isEmpty()) {
      return;
    }
    Set<String> named = VaryField.names(response);
    String missing =
        names.stream().filter(name -> !named.contains(name)).collect(Collectors.joining(", "));
    if (!missing.isEmpty() && !named.contains("*")) {
      response.add(FieldName.VARY, missing);
    }
  }

  /**
   * As {@link #addTo}, for a response that brings a stored one up to date: without {@code Vary} it
   * leaves the stored one's in force (RFC 9111 §3.2).
   */
  public void addToUpdate(Fields response) {
    if (response.has(FieldName.VARY)) {
      addTo(response);
    }
  }
}
