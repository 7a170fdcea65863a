package io.kamille.cache.decision;

import io.kamille.cache.rules.Reason;
import java.util.ArrayList;
import java.util.List;

/** The steps of one explanation, in order, their texts cut. For one thread. */
final class ExplanationSteps {

  private final List<Reason> steps = new ArrayList<>();

  /** One more step. */
  void add(String rule, String section, String found, String so) {
    steps.add(new Reason(rule, section, ShownText.cut(found), ShownText.cut(so)));
  }

  /** More steps. */
  void addAll(List<Reason> reasons) {
    reasons.forEach(reason -> add(reason.rule(), reason.section(), reason.found(), reason.so()));
  }

  /** All of them. */
  List<Reason> all() {
    return steps;
  }
}
