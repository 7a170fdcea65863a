package io.kamille.perf.lab;

/** What stored responses lie on, and whether requests leave the disk alone at a peak. */
enum PeakMode {
  DISK("disk only", true, "off"),
  HYBRID("memory + disk", true, "off"),
  MEMORY("memory only", false, "off"),
  AUTO("auto", true, "auto");

  private final String label;
  private final boolean hasDisk;
  private final String peak;

  PeakMode(String label, boolean hasDisk, String peak) {
    this.label = label;
    this.hasDisk = hasDisk;
    this.peak = peak;
  }

  String label() {
    return label;
  }

  boolean hasDisk() {
    return hasDisk;
  }

  /** The value of {@code cache.disk.peak}. */
  String peak() {
    return peak;
  }
}
