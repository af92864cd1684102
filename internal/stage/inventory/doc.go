// Package inventory keeps what a stage has applied, so that no crash loses track of an object, and decides what is to be
// deleted of it. The record is written ahead: an object is in it before it is applied, and until it was seen gone.
//
// It knows no controller, and how objects are applied or deleted is not its business.
package inventory
