// Package bench measures the whole gateway over loopback: make figures. Its
// figures are ratios within one run; client, gateway and backend share the
// machine.
package bench
