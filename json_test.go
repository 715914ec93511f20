package toptau
