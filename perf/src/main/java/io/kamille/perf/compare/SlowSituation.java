package io.kamille.perf.compare;

import io.kamille.perf.load.SlowClients.Kind;
import java.util.List;

/** Which slow clients there are beside those that behave well. */
enum SlowSituation {
  ALONE("alone"),
  HEADS("slow heads"),
  POSTS("slow POST"),
  READERS("slow read"),
  ALL("all of them");

  private final String label;

  SlowSituation(String label) {
    this.label = label;
  }

  String label() {
    return label;
  }

  List<Kind> kinds() {
    return switch (this) {
      case ALONE -> List.of();
      case HEADS -> List.of(Kind.HEAD);
      case POSTS -> List.of(Kind.POST);
      case READERS -> List.of(Kind.READ);
      case ALL -> List.of(Kind.values());
    };
  }
}
